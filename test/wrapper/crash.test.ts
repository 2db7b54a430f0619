import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { envelopeOf, openMessage } from '../../lib/client/sealed/messages.ts'
import { cryptoReady, dataKeyCipher, fromBase64 } from '../../lib/crypto/index.ts'
import { openJournalFile } from '../../lib/wrapper/home/journal-file.ts'
import { readNotes } from '../../lib/wrapper/home/session-folder.ts'
import { sampleSeed } from '../kit/seed.ts'
import { startServerProcess } from '../kit/server.ts'
import type { PhoneSession } from './kit/phone.ts'
import { linkedComputer } from './kit/world.ts'
import { runWrapper } from './kit/wrapper.ts'

const said = 400
/** At the first line, and at another one. `node build.mjs kills` does it more often. */
const moments = [1, 2 + ((sampleSeed.number * 149) % 300)]
const prompt = `SCRIPT: many ${said} line`

t.test('a wrapper killed under load loses nothing that it accepted, and the next run delivers it once and in order [W1]', async t => {
  const server = await startServerProcess(t)
  const { phone, home } = await linkedComputer(t, server)
  const seen: string[] = []
  for (const killAt of moments) {
    const wrapper = runWrapper(t, { home, args: ['demo', prompt] })
    const session = await phone.session(seen)
    seen.push(session.id)
    await session.until(() => lines(session).length >= killAt)
    await wrapper.kill()
    const accepted = await onDisk(t, home)
    const flush = runWrapper(t, { home, args: ['flush'] })
    t.equal(await flush.ended, 0, flush.output)
    await session.until(() => session.events().some(({ t }) => t === 'turn-end'))

    const told = lines(session)
    t.strictSame(told, numbered(told.length), `after ${killAt}: once, in order, without a gap`)
    t.ok(told.length >= (accepted.at(-1) ?? 0), `all ${accepted.length} that were on disk came, ${told.length} in all`)
    t.strictSame(readdirSync(join(home, 'sessions')), [], 'and nothing is left here')
    session.close()
  }
})

t.test('messages written without a server are delivered by the next run, although this one was killed [W1]', async t => {
  const first = await startServerProcess(t)
  const { phone, home } = await linkedComputer(t, first)
  await first.kill()

  const wrapper = runWrapper(t, { home, args: ['demo', 'SCRIPT: many 50 line'] })
  await wrapper.says(/will deliver 5[3-9] messages/)
  await wrapper.kill()
  t.equal((await onDisk(t, home)).length, 50)

  await startServerProcess(t, { data: first.data, port: Number(new URL(first.url).port) })
  const next = runWrapper(t, { home, args: ['demo', 'SCRIPT: text hello'] })
  await next.says(/live/)
  const newest = await phone.session()
  const left = newest.metadata.hostPid === wrapper.child.pid ? newest : await phone.session([newest.id])
  await left.until(() => lines(left).length >= 50)
  t.strictSame(lines(left), numbered(50))
  await next.kill('SIGTERM')
  t.match(next.output, /Everything was delivered/)
})

function numbered(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

function lines(session: PhoneSession): number[] {
  return session.events().flatMap(event => (event.t === 'text' ? numberOf(event.text) : []))
}

function numberOf(text: string): number[] {
  const number = /^line (\d+)$/.exec(text)?.[1]
  return number === undefined ? [] : [Number(number)]
}

/** The lines in the journals of a home, read from a copy, as another process would find them. */
async function onDisk(t: Test, home: string): Promise<number[]> {
  await cryptoReady()
  const copy = join(home, '..', `copy-${crypto.randomUUID()}`)
  cpSync(join(home, 'sessions'), copy, { recursive: true })
  const found: number[] = []
  for (const folder of readdirSync(copy)) {
    const key = fromBase64(readNotes(join(copy, folder))?.key ?? '')
    if (!key) throw new Error('the session has no key')
    const journal = openJournalFile(join(copy, folder, 'outbox.journal'))
    t.teardown(() => journal.close())
    for (const { content } of await journal.load()) {
      const opened = openMessage(dataKeyCipher(key), { content: { t: 'encrypted', c: content } } as never)
      const event = opened.ok ? envelopeOf(opened.body)?.ev : undefined
      if (event?.t === 'text') found.push(...numberOf(event.text))
    }
  }
  return found
}
