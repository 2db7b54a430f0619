import { createRest } from '../../lib/client/link/rest.ts'
import { newEnvelope, newId, sealDraft } from '../../lib/client/sealed/messages.ts'
import { accountVault } from '../../lib/client/sealed/vault.ts'
import { signIn } from '../../lib/client/sign-in/login.ts'
import { cryptoReady, engine } from '../../lib/crypto/index.ts'
import type { MessageBody, SessionEvent } from '../../lib/protocol/sealed/messages.ts'

const batch = 100

/** A new account with one session of so many messages: texts, steps with a diff, and their ends. The last message says so. */
export async function fillSession(url: string, messages: number) {
  await cryptoReady()
  const secret = engine.randomBytes(32)
  const { token } = await signIn({ server: url, secret, fetch })
  const rest = createRest({ server: url, token, fetch })
  const key = accountVault(secret).newKey()
  const metadata = key.cipher.seal({ path: '/home/mira/orchard', host: 'studio' })
  const { session } = await rest.call('openSession', { body: { tag: newId(), metadata, dataEncryptionKey: key.wrapped } })
  const { id } = session
  const turn = newId()
  const say = async (events: readonly SessionEvent[]) => {
    const bodies = events.map((ev): MessageBody => ({ role: 'session', content: newEnvelope(ev, { role: 'agent', turn }) }))
    const messages = bodies.map(body => sealDraft(key.cipher, id, body))
    await rest.call('appendMessages', { params: { id }, body: { messages } })
  }
  for (let at = 0; at < messages; at += batch) await say(turnOf(at, batch))
  await say([{ t: 'text', text: 'This was the last.' }])
  return { secret, id, token, rest, cipher: key.cipher, say, turn }
}

/** Texts, a step with a diff, and its end. */
function turnOf(from: number, count: number): SessionEvent[] {
  return Array.from({ length: count }, (_, index): SessionEvent => {
    const number = from + index
    const call = `call${number - (number % 4)}`
    const path = `/home/mira/orchard/src/tree-${number}.ts`
    const diff = { type: 'diff' as const, path, oldText: 'let apples = 1\n', newText: `let apples = ${number}\n` }
    switch (number % 4) {
      case 0:
        return { t: 'tool-call-start', call, name: 'Edit', title: 'Edit', description: '', args: { file_path: path }, kind: 'edit' }
      case 1:
        return { t: 'tool-call-end', call: `call${number - 1}`, status: 'completed', content: [diff] }
      case 2:
        return { t: 'text', text: `Tree **${number}** bears \`apples\` now.\n\n- one\n- two\n\n\`\`\`ts\nconst apples = ${number}\n\`\`\`` }
      default:
        return { t: 'text', text: 'It is known why they fell: '.repeat(6) }
    }
  })
}
