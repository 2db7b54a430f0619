import { resolve } from 'node:path'
import t from 'tap'
import { createPictures } from '../../../../lib/wrapper/session/output/pictures.ts'
import { startServer } from '../../../kit/server.ts'
import { turnsEnded } from '../../kit/demo.ts'
import { linkedComputer } from '../../kit/world.ts'
import { runWrapper } from '../../kit/wrapper.ts'

t.test('a picture shown by an agent arrives on the phone, encrypted like attachments from the phone', async t => {
  const { phone, home } = await linkedComputer(t, await startServer(t))
  runWrapper(t, { home, args: ['run', '--', process.execPath, resolve('test/wrapper/agents/odd-agent.mjs')] })
  const session = await phone.session()
  await session.say('show')
  const shown = () => session.events().flatMap(event => (event.t === 'file' ? [event] : []))
  await session.until(session => turnsEnded(session) === 1 && shown().length === 3)
  t.match(shown(), [
    { name: 'sine.png', mimeType: 'image/png' },
    { name: 'c.gif', mimeType: 'image/gif' },
    { name: 'picture.png', mimeType: 'image/png' }
  ])
  const bytes = await session.open(shown()[0]?.ref ?? '')
  t.equal(bytes?.length, shown()[0]?.size)
  t.match(Buffer.from(bytes ?? []).toString('latin1'), /^\x89PNG/)
})

const picture = { type: 'picture', name: 'a.png', mimeType: 'image/png', bytes: new Uint8Array(3) } as const

t.test('a picture waits for the link, and one that cannot be sent is reported', async t => {
  const told: string[] = []
  let isLinked = false
  const pictures = createPictures({
    async send() {
      if (told.length > 0) throw new Error('the server did not take it')
      return { ref: 'ref', seal: 'seal' }
    },
    isLinked: () => isLinked,
    tell: async event => void told.push(event.type === 'file' ? `${event.file.name} ${event.file.ref} ${event.file.size}` : event.text)
  })
  pictures.show(picture)
  pictures.show(picture)
  isLinked = true
  t.strictSame(told, [])
  await pictures.finish(60_000)
  t.strictSame(told, ['a.png ref 3', '[a.png: the server did not take it]'])
})

t.test('of more pictures than may wait the rest are reported at once, and those that wait in vain at the end', async t => {
  const told: string[] = []
  const tell = async (event: { text: string } | { file: unknown }) => void told.push('text' in event ? event.text : 'sent')
  const pictures = createPictures({ send: async () => ({ ref: 'ref', seal: 'seal' }), isLinked: () => false, tell })
  for (let times = 0; times < 22; times++) pictures.show(picture)
  t.strictSame(
    told,
    Array.from({ length: 2 }, () => '[a.png: too many images are waiting to be sent]')
  )
  await pictures.finish(1)
  t.strictSame(
    told.slice(2),
    Array.from({ length: 20 }, () => '[a.png: the session ended before it was sent]')
  )
})
