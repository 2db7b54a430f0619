import { type LanguageName, language } from './language.ts'

/** The same reasons in each language: one is told and kept in the language of the device that said no. */
const reasons: Record<LanguageName, readonly string[]> = {
  en: ['Not now', 'Do it another way', 'Explain first'],
  zh: ['现在不行', '换个做法', '先解释一下']
}

/** Why somebody says no, to choose from. */
export function denialReasons(): readonly string[] {
  return reasons[language]
}

/** A reason that was chosen, in the language of this device; what somebody wrote behind it stays as it is. */
export function reasonHere(said: string): string {
  for (const known of Object.values(reasons)) {
    const at = known.findIndex(each => said === each || said.startsWith(`${each}. `))
    if (at >= 0) return `${reasons[language][at]}${said.slice(known[at]?.length)}`
  }
  return said
}
