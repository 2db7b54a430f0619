import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { handlerFor } from '../../../bin/commands/help.ts'
import { manualText } from '../../../bin/manual.ts'
import { readHelpPage } from '../../../lib/help-pages.ts'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { styleFor } from '../../../lib/wrapper/terminal/style.ts'
import { here } from '../kit/here.ts'

const handler = handlerFor([
  { usage: 'paint [what]', about: 'Paint' },
  { usage: 'inner-work', about: false }
])
const page = (columns: number, isTTY: boolean) =>
  manualText(readHelpPage('https'), { style: styleFor({ isTTY }, { NO_COLOR: '1' }), columns })

t.test('a page goes to a file or another program as it is', async t => {
  t.strictSame(await here(t, handler, { topic: 'https' }), { code: 0, stdout: page(Number.POSITIVE_INFINITY, false), stderr: '' })
})

t.test('what is neither a command nor a page is refused, with the nearest that people may use', async t => {
  const refused = async (topic: unknown, hint: string) => {
    const stderr = `There is no command and no page ${topic}.${hint} See ${typed('--help')}.\n`
    t.strictSame(await here(t, handler, { topic }), { code: 78, stdout: '', stderr })
  }
  await refused('pant', ' Did you mean paint?')
  await refused('htps', ' Did you mean https?')
  await refused('inner-wrok', '')
  await refused('bogus', '')
})

t.test('on a screen too low for it a page is shown by the pager that the person chose', async t => {
  const own = t.testdir({ pager: '#!/bin/sh\necho "$@" > "$OUT"; cat >> "$OUT"; echo "$LESS $LESSCHARSET" >> "$OUT"\n' })
  const OUT = join(own, 'out')
  const text = page(80, true)
  const rows = text.split('\n').length
  const shown = (rows: number, PAGER: string) => onScreen(t, { rows, columns: 80 }, { PAGER, OUT, PATH: '/usr/bin:/bin' })
  t.equal(await shown(rows - 1, ` /bin/sh  ${join(own, 'pager')} -a `), '', 'nothing goes past it')
  t.equal(readFileSync(OUT, 'utf8'), `-a\n${text}FRX utf-8\n`)
  t.equal(await shown(rows, `/bin/sh ${join(own, 'pager')}`), text, 'a screen that is high enough')
  t.equal(await shown(2, 'no-such-pager'), text)
})

/** What the page wrote to a screen of this size. */
async function onScreen(t: Test, { rows, columns }: { rows: number; columns: number }, env: Record<string, string>): Promise<string> {
  let written = ''
  const changed = [
    t.intercept(process, 'env', { value: { NO_COLOR: '1', ...env } }),
    t.intercept(process.stdout, 'isTTY', { value: true }),
    t.intercept(process.stdout, 'rows', { value: rows }),
    t.intercept(process.stdout, 'columns', { value: columns }),
    t.capture(process.stdout, 'write', (text: string) => {
      written += text
      return true
    })
  ]
  await handler({ _: [], $0: '', topic: 'https' }).finally(() => {
    for (const { restore } of changed) restore()
  })
  return written
}
