import { Ids } from '../../panel/ids';

function stepsOf(before: string, after: string): string[] {
  const ids = new Ids();
  ids.become([...before]);
  const steps: string[] = [];
  ids.changed.connect((_, { type, newIndex, oldIndex, newValues, oldValues }) => {
    steps.push(type === 'add' ? `+${newValues.join('')}@${newIndex}` : `-${oldValues.join('')}@${oldIndex}`);
  });
  ids.become([...after]);
  expect(Array.from({ length: ids.length }, (_, index) => ids.get(index)).join('')).toBe(after);
  return steps;
}

it.each([
  ['', 'ab', ['+ab@0']],
  ['ab', 'ab', []],
  ['bc', 'abc', ['+a@0']],
  ['ab', 'abcd', ['+cd@2']],
  ['abc', 'ac', ['-b@1']],
  ['abc', 'axc', ['-b@1', '+x@1']],
  ['aa', 'a', ['-a@1']],
  ['abc', '', ['-abc@0']]
])('from "%s" to "%s" only what is another is told', (before, after, steps) => {
  expect(stepsOf(before, after)).toEqual(steps);
});
