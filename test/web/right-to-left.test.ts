import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

t.test('the style sheets use start and end, not left and right', async t => {
  for (const name of readdirSync('web', { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.css'))) {
    const sheet = readFileSync(`web/${name}`, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
    for (const [rule] of sheet.matchAll(/[^{}]*\{[^{}]*\}/g)) {
      // Properties without a logical form are mirrored by a rule.
      if (rule.includes('[dir="rtl"]')) continue
      const physical = rule.match(
        /(?:^|[\s;{])((?:margin|padding|border|inset)-(?:left|right)[a-z-]*|left|right|(?:text-align|float|clear):\s*(?:left|right))\s*[:;]/
      )
      t.notOk(physical && !turnedRound(sheet, rule), `${name}: ${physical?.[1]} in ${rule.trim().split('\n')[0]}`)
      const corners = rule.match(/(?:margin|padding|inset|border-(?:width|color|style)):\s*(\S+) (\S+) (\S+) (\S+);/)
      const isLopsided = corners && corners[2] !== corners[4] && !turnedRound(sheet, rule)
      t.notOk(isLopsided, `${name}: ${corners?.[0]} in ${rule.trim().split('\n')[0]}`)
    }
  }
})

function turnedRound(sheet: string, rule: string): boolean {
  const selector = rule.slice(0, rule.indexOf('{')).trim()
  return sheet.includes(`[dir="rtl"] ${selector} {`)
}
