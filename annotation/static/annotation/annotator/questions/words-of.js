// The words of a text as the server counts them: split like Python's `str.split`.

const SPACES = ["\\t-\\r", "\\x1c-\\x20", "\\x85", "\\xa0", "\\u1680", "\\u2000-\\u200a", "\\u2028", "\\u2029", "\\u202f", "\\u205f", "\\u3000"];
const BETWEEN = new RegExp(`[${SPACES.join("")}]+`);

export function wordsOf(text) {
  return text.split(BETWEEN).filter((word) => word !== "");
}
