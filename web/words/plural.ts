/** What a sentence says for each form of a number that its language has; `other` is there in every language. */
type Forms = { readonly [Form in Exclude<Intl.LDMLPluralRule, 'other'>]?: string } & { readonly other: string }

/** Picks the form that this language wants for a number: of the language a sentence is written in, which need not be the reader's. */
export function pluralIn(language: string): (count: number, forms: Forms) => string {
  const rules = new Intl.PluralRules(language)
  return (count, forms) => forms[rules.select(count)] ?? forms.other
}
