import t, { type Test } from 'tap'
import { engine } from '../../../../lib/crypto/index.ts'
import { liveFiles } from '../../../../web/model/account/live-files.ts'
import { startWorld } from '../../../client/world.ts'

/** The attachments of a session on a real server, and of another one without a key. */
async function start(t: Test) {
  const { rest, token, vault, openSession } = await startWorld(t)
  const { session, key } = await openSession()
  const source = { token: async () => token, renew: async () => token }
  const blobKey = vault.openBlobKey(key.wrapped)
  const files = (from: { blobKey?: Uint8Array | undefined } = { blobKey }) =>
    liveFiles({ rest, token: source, blobKeyOf: id => (id === session.id ? from.blobKey : undefined) })
  return { files, session: session.id }
}

const bytes = new TextEncoder().encode('pears')

t.test('a file is sealed, uploaded, downloaded and opened, and its seal names exactly these bytes', async t => {
  const { files, session } = await start(t)
  const { seal, sealOf, upload, download } = files()
  const sealed = seal(session, bytes)
  t.notMatch(new TextDecoder('latin1').decode(sealed), 'pears')
  const told: number[] = []
  const ref = await upload(session, sealed, { onProgress: at => told.push(at) })
  t.equal(told.at(-1), sealed.length)
  told.length = 0
  t.same(await download(session, { ref, seal: sealOf(sealed) }, { onProgress: at => told.push(at) }), bytes)
  t.ok(told.length > 0)
  t.same(await download(session, { ref }), bytes, 'one announced without a seal')
  await t.rejects(download(session, { ref, seal: sealOf(seal(session, bytes)) }), { message: 'another file' })
})

t.test('a file of another session is not fetched, and one sealed with another key is not opened', async t => {
  const { files, session } = await start(t)
  const { seal, upload, download } = files()
  const ref = await upload(session, seal(session, bytes))
  await t.rejects(download('s2', { ref }), { message: 'not of this session' })
  await t.rejects(files({ blobKey: engine.randomBytes(32) }).download(session, { ref }), { message: 'damaged, or sealed with another key' })
})

t.test('nothing is sealed or opened for a session whose key is not here', async t => {
  const { files, session } = await start(t)
  const { seal, upload } = files()
  const ref = await upload(session, seal(session, bytes))
  const keyless = files({})
  t.throws(() => keyless.seal(session, bytes), { message: 'no key' })
  await t.rejects(keyless.download(session, { ref }), { message: 'no key' })
})
