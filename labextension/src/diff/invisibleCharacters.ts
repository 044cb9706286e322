/** Names the invisible characters; `make payloads` writes it from the definition in Python. */

export const INVISIBLES =
  /[\u{0}-\u{8}\u{a}-\u{1f}\u{7f}-\u{9f}\u{ad}-\u{ad}\u{34f}-\u{34f}\u{61c}-\u{61c}\u{115f}-\u{1160}\u{17b4}-\u{17b5}\u{180b}-\u{180f}\u{200b}-\u{200c}\u{200e}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{2800}-\u{2800}\u{3164}-\u{3164}\u{d800}-\u{dfff}\u{fe00}-\u{fe0e}\u{feff}-\u{feff}\u{ffa0}-\u{ffa0}\u{fff0}-\u{fffc}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?<![\u{2190}-\u{2bff}\u{1f000}-\u{1faff}\ufe0f])\u200d|\u200d(?![\u{2190}-\u{2bff}\u{1f000}-\u{1faff}])|(?<![\u{2190}-\u{2bff}\u{1f000}-\u{1faff}])\ufe0f/gu;
