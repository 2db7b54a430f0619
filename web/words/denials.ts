import { type LanguageName, language } from './language.ts'

/** The same reasons in each language: a reason is sent and stored in the language of the device that denied. */
const reasons: Record<LanguageName, readonly string[]> = {
  en: ['Not now', 'Do it another way', 'Explain first'],
  zh: ['现在不行', '换个做法', '先解释一下']
}

/** The reasons for a denial to choose from. */
export function denialReasons(): readonly string[] {
  return reasons[language]
}

/** A chosen reason, translated to the language of this device; text that was added to it stays unchanged. */
export function reasonHere(said: string): string {
  for (const known of Object.values(reasons)) {
    const at = known.findIndex(each => said === each || said.startsWith(`${each}. `))
    if (at >= 0) return `${reasons[language][at]}${said.slice(known[at]?.length)}`
  }
  return said
}
