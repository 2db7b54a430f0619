import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createAttachments } from '../../../lib/wrapper/agents/attachments.ts'
import { ownName } from '../../../lib/wrapper/home/processes.ts'

t.test('a file is named to the agent and removed with the session; files left by a killed wrapper stay for a day', async t => {
  const before = process.env['TMPDIR']
  const place = mkdtempSync(join(tmpdir(), 'afield-place-'))
  process.env['TMPDIR'] = place
  t.teardown(() => {
    rmSync(place, { recursive: true })
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  })
  const leave = (name: string, hoursAgo: number) => {
    const folder = join(place, `afield-attachments-${name}`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'a.pdf'), 'left')
    const at = Date.now() / 1000 - hoursAgo * 3600
    utimesSync(folder, at, at)
  }
  leave('old@999999-1', 25)
  leave('new@999999-1', 23)
  leave(`running@${ownName()}`, 25)
  const attachments = createAttachments({
    download: async () => new TextEncoder().encode('words'),
    takesImages: () => false,
    tell: async () => {}
  })
  const { text } = await attachments.join('Read this', [{ ref: 'r', name: 'b.txt', size: 5 }])
  const [path = ''] = /\S+b\.txt$/.exec(text) ?? []
  t.equal(statSync(path).mode & 0o777, 0o600)
  const names = () =>
    readdirSync(place)
      .map(name => name.replace(/^afield-attachments-|@.*/g, ''))
      .filter(name => name.length < 10)
      .toSorted()
  t.strictSame(names(), ['new', 'running'])
  attachments.close()
  t.equal(readdirSync(place).length, 2, 'its own is gone')
})
