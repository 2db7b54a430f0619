import { readFileSync } from 'node:fs'
import t from 'tap'

/** Text and its background, lines and what they border on, with the minimum contrast: WCAG 2.2 AA, and AAA for long texts. */
const grounds = ['bg', 'surface', 'sunken', 'raised']
const onEveryGround: [string, number][] = [
  ['text', 7],
  ...['text-2', 'text-3', 'accent', 'needs-text', 'danger-text', 'success-text'].map((name): [string, number] => [name, 4.5]),
  ...['line-strong', 'focus', 'agent', 'success', 'danger'].map((name): [string, number] => [name, 3])
]
const own: Record<string, [number, string[]][]> = {
  accent: [[4.5, ['on-accent']]],
  'accent-press': [[4.5, ['on-accent']]],
  'accent-soft': [
    [7, ['text']],
    [4.5, ['text-2', 'text-3', 'accent']]
  ],
  user: [
    [7, ['on-user']],
    [4.5, ['user-2']]
  ],
  needs: [[7, ['on-needs']]],
  'needs-soft': [
    [7, ['text']],
    [4.5, ['needs-text', 'text-2', 'text-3', 'accent', 'danger-text']]
  ],
  danger: [[4.5, ['on-danger']]],
  'danger-press': [[4.5, ['on-danger']]],
  'danger-soft': [
    [7, ['text']],
    [4.5, ['danger-text', 'text-2']]
  ],
  'add-bg': [
    [7, ['text']],
    [4.5, ['add-text', 'text-3']]
  ],
  'del-bg': [
    [7, ['text']],
    [4.5, ['del-text', 'text-3']]
  ],
  'add-word': [[7, ['text']]],
  'del-word': [[7, ['text']]],
  surface: [[4.5, ['add-text', 'del-text']]],
  bg: [
    [4.5, ['add-text', 'del-text', 'user-2']],
    [1.5, ['accent-line', 'needs']]
  ],
  sky: [
    [7, ['text']],
    [4.5, ['text-2', 'text-3', 'accent', 'needs-text']],
    [3, ['focus']]
  ]
}
const ofCode = ['syn-key', 'syn-str', 'syn-num', 'syn-fn', 'syn-com']
const underCode = ['sunken', 'surface', 'add-bg', 'del-bg']

const pairs: [string, string, number][] = [
  ...grounds.flatMap(ground => onEveryGround.map(([name, least]): [string, string, number] => [name, ground, least])),
  ...Object.entries(own).flatMap(([ground, groups]) =>
    groups.flatMap(([least, names]) => names.map((name): [string, string, number] => [name, ground, least]))
  ),
  ...underCode.flatMap(ground => ofCode.map((name): [string, string, number] => [name, ground, 4.5]))
]

const sheet = readFileSync('web/ui/style/tokens.css', 'utf8')
const themes = {
  light: colours(/:root,\s*\[data-theme="light"\] \{([\s\S]*?)\n\}/),
  dark: colours(/\n\[data-theme="dark"\] \{([\s\S]*?)\n\}/),
  'dark by the system': colours(/:root:not\(\[data-theme="light"\]\) \{([\s\S]*?)\n {2}\}/)
}

t.test('all text has enough contrast, in light and dark', async t => {
  for (const [theme, colourOf] of Object.entries(themes)) {
    const weak = pairs.flatMap(([text, ground, least]) => {
      const found = contrast(colourOf(text), colourOf(ground))
      return found < least ? [`${text} on ${ground}: ${found.toFixed(2)}, least ${least}`] : []
    })
    t.same(weak, [], theme)
  }
})

function colours(block: RegExp): (name: string) => string {
  const found = new Map([...(sheet.match(block)?.[1] ?? '').matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, hex]) => [name, hex]))
  return name => {
    const hex = found.get(name)
    if (hex === undefined) throw new Error(`tokens.css has no --${name} there`)
    return hex
  }
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = rgb(hex).map(part => {
    const value = part / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function rgb(hex: string): number[] {
  return [1, 3, 5].map(at => Number.parseInt(hex.slice(at, at + 2), 16))
}
