/** A text for each plural form of a language; every language has `other`. */
type Forms = { readonly [Form in Exclude<Intl.LDMLPluralRule, 'other'>]?: string } & { readonly other: string }

/** Picks the plural form by the rules of the sentence's own language, which may differ from the reader's. */
export function pluralIn(language: string): (count: number, forms: Forms) => string {
  const rules = new Intl.PluralRules(language)
  return (count, forms) => forms[rules.select(count)] ?? forms.other
}
