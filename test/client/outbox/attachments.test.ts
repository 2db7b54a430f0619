import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { createRest } from '../../../lib/client/index.ts'
import { type AttachmentLink, downloadAttachment, uploadAttachment } from '../../../lib/client/outbox/attachments.ts'
import { openSlowUplink } from '../../kit/slow-uplink.ts'
import { openTcpProxy } from '../../kit/tcp-proxy.ts'
import { startWorld } from '../world.ts'

// The slow ones mostly wait.
t.jobs = 3

async function startLink(t: Test) {
  const { url, token, openSession } = await startWorld(t)
  const { session } = await openSession()
  const linkOver = (server: string) => ({ rest: createRest({ server, token, fetch }), token, fetch })
  return { url, token, session: session.id, link: linkOver(url), linkOver }
}

t.test('an attachment is uploaded and downloaded with progress reports', async t => {
  const { session, link } = await startLink(t)
  const bytes = randomBytes(1_000_000)
  const told: number[] = []
  const ref = await uploadAttachment(link, session, bytes, { onProgress: at => told.push(at) })
  t.equal(told.at(-1), bytes.length)
  t.ok(told.length > 2)
  t.ok(bytes.equals(await downloadAttachment(link, ref)))
})

t.test('a repeatedly interrupted upload resumes where it stopped and resends little [N9]', async t => {
  const { url, session, link, linkOver } = await startLink(t)
  const line = await openSlowUplink(t, url, { bytesPerSecond: 4_000_000, cutAfter: [100_000, 200_000, 400_000, 500_000] })
  const bytes = randomBytes(700_000)
  const ref = await uploadAttachment(linkOver(line.url), session, bytes)
  t.ok(bytes.equals(await downloadAttachment(link, ref)))
  t.ok(line.sent() < 2 * bytes.length, `${line.sent()} bytes for ${bytes.length}`)
})

t.test('an upload started by another process resumes, and restarts if the server has dropped it [N9]', async t => {
  const { url, session, link, linkOver } = await startLink(t)
  const bytes = randomBytes(700_000)
  const died = new AbortController()
  let begun = ''
  const dying = uploadAttachment(link, session, bytes, {
    signal: died.signal,
    onBegun: ref => {
      begun = ref
    },
    onProgress: at => at > 150_000 && died.abort(new Error('the app was closed'))
  })
  await t.rejects(dying, /closed/)
  const line = await openSlowUplink(t, url, { bytesPerSecond: 4_000_000 })
  t.equal(await uploadAttachment(linkOver(line.url), session, bytes, { begun }), begun)
  t.ok(bytes.equals(await downloadAttachment(link, begun)))
  t.ok(line.sent() < 600_000, `${line.sent()} bytes for the rest`)
  t.equal(await uploadAttachment(link, session, bytes, { begun }), begun, 'one that is whole is not sent again')
  const forgotten = `sessions/${session}/attachments/${crypto.randomUUID()}.enc`
  const ref = await uploadAttachment(link, session, bytes, { begun: forgotten })
  t.not(ref, forgotten)
  t.ok(bytes.equals(await downloadAttachment(link, ref)))
})

t.test('a phone with 8 kB/s uploads its picture, in parts and in one request; only what is not an attachment is cut [N9]', async t => {
  const { url, token, session, link, linkOver } = await startLink(t)
  const bytes = randomBytes(100_000)
  const slowly = () => openSlowUplink(t, url, { bytesPerSecond: 8000 })
  const headers = { authorization: `Bearer ${token}` }
  const inParts = async () => downloadAttachment(link, await uploadAttachment(linkOver((await slowly()).url), session, bytes))
  const inOneGo = async () => {
    const { ref, uploadUrl } = await link.rest.call('requestUpload', { params: { id: session }, body: { size: bytes.length } })
    await fetch(uploadUrl.replace(url, (await slowly()).url), { method: 'PUT', headers, body: new Uint8Array(bytes) })
    return downloadAttachment(link, ref)
  }
  const asMessage = async () =>
    fetch(`${(await slowly()).url}/v3/sessions/${session}/messages`, { method: 'POST', headers, body: 'x'.repeat(200_000) })
  const [one, two] = await Promise.all([inParts(), inOneGo(), t.rejects(asMessage(), 'the library cuts what takes long')])
  t.ok(bytes.equals(one))
  t.ok(bytes.equals(two))
})

t.test('an interrupted download resumes where it stopped', async t => {
  const { url, session, link, linkOver } = await startLink(t)
  const bytes = randomBytes(4_000_000)
  const ref = await uploadAttachment(link, session, bytes)
  const line = await openTcpProxy(t, url)
  line.cutAfter(1_500_000)
  t.ok(bytes.equals(await downloadAttachment(linkOver(line.url), ref)))
  t.equal(line.connects, 2)
})

t.test('a rejected upload is not retried, and a cancelled one stops', async t => {
  const { session, link } = await startLink(t)
  await t.rejects(uploadAttachment(link, session, new Uint8Array(11 * 1024 * 1024)), { name: 'Refused', status: 400 })
  await t.rejects(downloadAttachment(link, `sessions/${session}/attachments/${crypto.randomUUID()}.enc`), { name: 'Refused', status: 404 })
  const reason = new Error('changed my mind')
  await t.rejects(uploadAttachment(link, session, new Uint8Array(10), { signal: AbortSignal.abort(reason) }), reason)
})

t.test('a download broken off after its last byte is complete, and one that the server fails at is asked for again', async t => {
  const asked: (string | undefined)[] = []
  const refused = (status: number) => () => Response.json({ error: 'no' }, { status })
  const answering = (...answers: (() => Response)[]): AttachmentLink => ({
    rest: createRest({ server: 'http://home.example', token: 'secret', fetch }),
    token: 'secret',
    async fetch(url, { headers }) {
      t.equal(url, 'http://home.example/v1/sessions/s/attachments/a.enc')
      t.equal(headers['authorization'], 'Bearer secret')
      asked.push(headers['range'])
      return (answers.shift() ?? refused(410))()
    }
  })
  const download = (link: AttachmentLink) => downloadAttachment(link, 'sessions/s/attachments/a.enc')
  const brokenAfter =
    (...bytes: number[]) =>
    () => {
      let isSent = false
      const pull = (stream: ReadableStreamDefaultController<Uint8Array>) => {
        if (isSent) return stream.error(new Error('reset'))
        isSent = true
        stream.enqueue(Uint8Array.from(bytes))
      }
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))
    }

  t.same(await download(answering(brokenAfter(1, 2, 3), refused(416))), Uint8Array.from([1, 2, 3]))
  t.same(asked.splice(0), [undefined, 'bytes=3-'])
  await t.rejects(download(answering(refused(416))), { name: 'Refused', status: 416, code: 'no' }, 'of nothing it had there is no rest')
  t.same(await download(answering(refused(500), () => new Response(Uint8Array.from([4])))), Uint8Array.from([4]))
  await t.rejects(download(answering(refused(403))), { name: 'Refused', status: 403 })
})
