import jupyter from '@jupyter/eslint-plugin';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['lib', 'node_modules', '*.js', '*.mjs', 'src/__tests__/*.js', 'src/payloads.ts'] },
  ...tseslint.configs.recommended,
  { plugins: { jupyter } },
  ...jupyter.configs.recommended,
  {
    files: ['src/**/*.ts'],
    rules: {
      curly: ['error', 'all'],
      eqeqeq: 'error',
      // Options and ids stand in a namespace of their class's name, as in JupyterLab's own packages.
      '@typescript-eslint/no-namespace': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { args: 'none', ignoreRestSiblings: true }],
      // Activation makes the panel at once; what is heavy, the diffs, is imported when the first is asked for.
      'jupyter/prefer-lazy-imports': 'off'
    }
  }
);
