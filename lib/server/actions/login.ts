import { hash } from 'node:crypto'
import { verifySignature } from '../../crypto/sign.ts'
import { failure } from '../../protocol/wire/failures.ts'
import type { AccountId } from '../../protocol/wire/ids.ts'
import type { BodyOf } from '../../protocol/wire/routes.ts'
import { decodeBase64 } from '../base64.ts'
import type { Deps } from './deps.ts'
import { type TellDeps, tellOfDevice } from './devices.ts'
import type { SignupPolicy } from './signup.ts'
import { mintToken, type NewToken } from './tokens.ts'

const shortestChallenge = 16
const longestChallenge = 64

/** Signs in with a signature over a challenge the client chose; each challenge of a key is good once, for ever. */
export async function signIn(
  deps: TellDeps & Pick<Deps, 'newId'> & { signup: SignupPolicy },
  body: BodyOf<'signIn'>,
  from: { client: string; network: string }
): Promise<{ token: string }> {
  const { publicKey, challenge } = checkSignature(body)
  const { store, signup, now, newId } = deps
  const create = signup.admits(body.setupCode)

  const label = body.deviceName ?? from.client
  let token: NewToken | undefined
  const outcome = await store.signIn({
    publicKey: publicKey.toString('hex').toUpperCase(),
    challengeHash: hash('sha256', Buffer.concat([Buffer.from('v1'), publicKey, challenge]), 'base64url'),
    create,
    newAccount: newId() as AccountId,
    token: account => {
      token = mintToken(deps, account, { kind: 'account', label, from: from.network })
      return token.draft
    },
    now: now()
  })
  // A used challenge is answered like a bad signature: whoever replays one learns nothing.
  if (outcome.result === 'challenge-used') throw failure('bad-signature')
  if (outcome.result === 'unknown-key') throw await signup.refusal(store)
  if (outcome.result !== 'signed-in') throw failure(outcome.result === 'held' ? 'login-held' : 'legacy-login-off')
  if (outcome.created) signup.accountCreated()
  if (!token) throw new Error('The store signed in without taking a token.')
  if (!outcome.created && outcome.device) tellOfDevice(deps, outcome.account, { id: outcome.device, kind: 'account', name: label })
  return { token: token.text }
}

function checkSignature(body: BodyOf<'signIn'>): { publicKey: Buffer; challenge: Uint8Array } {
  const publicKey = decodeBase64(body.publicKey)
  const message = decodeBase64(body.challenge)
  const signature = decodeBase64(body.signature)
  if (!publicKey || !message || !signature) throw failure('bad-signature')
  if (message.length < shortestChallenge || message.length > longestChallenge) throw failure('bad-signature')
  if (!verifySignature({ publicKey, message, signature })) throw failure('bad-signature')
  return { publicKey: Buffer.from(publicKey), challenge: message }
}
