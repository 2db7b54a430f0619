/**
 * Characters that could hide or reorder the content of a decision. Categories Cc, Cf (bidi marks, zero width, tags), Zl, Zp, and spaces
 * other than the plain one; lone surrogates; blank-looking letters; variation selectors. Tab and line feed are harmless. A carriage
 * return is not: it overwrites a line in a terminal.
 */
export const hidden =
  /(?![\t\n ])(?:[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Cs}\p{Co}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{3164}\u{ffa0}\u{2800}]|\p{Variation_Selector}|\u{34f})/gu

export function hasHidden(text: string): boolean {
  return text.search(hidden) >= 0
}
