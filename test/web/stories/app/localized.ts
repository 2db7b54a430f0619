/** Inserted when the stories are bundled: every text of the app in English and in Chinese. */
declare const TRANSLATIONS: readonly (readonly [english: string, chinese: string])[]

/** Matches a text that begins like this in English, in the language of the page. */
export function localized(english: string): RegExp {
  const inChinese = document.documentElement.lang === 'en' ? [] : TRANSLATIONS.flatMap(pair => inChineseOf(english, ...pair))
  return new RegExp([escaped(english), ...inChinese].join('|'))
}

function inChineseOf(text: string, english: string, chinese: string): string[] {
  const [head = ''] = english.split('⟨', 1)
  if (head.startsWith(text)) return [filled(chinese, [])]
  const isWhole = /\p{L}/u.test(english.replace(/⟨\d⟩/g, ''))
  const told = isWhole ? text.match(`^${escaped(english).replace(/⟨\d⟩/g, '(.+)')}$`) : null
  if (told === null) return []
  const order = [...english.matchAll(/⟨(\d)⟩/g)].map(([, place]) => Number(place))
  return [
    filled(
      chinese,
      order.reduce<string[]>((all, place, index) => Object.assign(all, { [place]: told[index + 1] }), [])
    )
  ]
}

function filled(chinese: string, told: readonly (string | undefined)[]): string {
  return escaped(chinese).replace(/⟨(\d)⟩/g, (_, place) => escaped(told[place] ?? '') || '.+')
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
