import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CannotStart } from '../../../lib/exit.ts'
import { openStore } from '../../../lib/store/open.ts'

/** What SQLite leaves when its program is killed while it writes: half a page, and the journal that undoes it. */
function cutOff(t: Test, { pagesBefore }: { pagesBefore: number }) {
  const directory = t.testdir()
  const file = join(directory, 'afield.db')
  const journal = Buffer.alloc(512)
  Buffer.from('d9d505f920a163d7', 'hex').copy(journal)
  journal.writeUInt32BE(pagesBefore, 16)
  journal.writeUInt32BE(512, 20)
  journal.writeUInt32BE(4096, 24)
  const page = Buffer.alloc(4096)
  page.write('SQLite format 3\0')
  writeFileSync(file, page)
  writeFileSync(`${file}-journal`, journal)
  return { directory, file, page, journal }
}

const open = (dataDirectory: string) => openStore('sqlite:afield.db', { dataDirectory, onBroken: reason => t.error(reason) })

t.test('a server killed during its first write starts again [D4]', async t => {
  const { directory } = cutOff(t, { pagesBefore: 0 })
  const store = await open(directory)
  t.teardown(() => store.close())
  t.equal(await store.hasAccounts(), false)
})

t.test("a database with another program's unfinished write is rejected and left for that program to recover [L3]", async t => {
  const { directory, file, page, journal } = cutOff(t, { pagesBefore: 1 })
  const refusal: unknown = await open(directory).catch(error => error)
  if (!(refusal instanceof CannotStart)) throw refusal
  t.match(refusal.message, /afield\.db was left in the middle of a change by another program; .*\.$/)
  t.ok(readFileSync(file).equals(page))
  t.ok(readFileSync(`${file}-journal`).equals(journal))
})

t.test('a truncated or missing journal says nothing about the file', async t => {
  const { directory, file } = cutOff(t, { pagesBefore: 0 })
  writeFileSync(`${file}-journal`, Buffer.alloc(10))
  await t.rejects(open(directory), CannotStart)
})
