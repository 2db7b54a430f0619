import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, crypto } from 'acme-client'
import { CannotStart } from '../../exit.ts'
import { writePrivateFile } from './certificate-file.ts'
import type { CertificateOrder } from './certificates.ts'
import { openChallenge } from './challenge.ts'

/** `Certificates.order`. The only file that loads the ACME library. */
export async function orderCertificate(order: CertificateOrder, signal: AbortSignal): Promise<string> {
  if (order.trialDirectory !== undefined) await orderAt(order.trialDirectory, order, signal)
  return orderAt(order.directory, order, signal)
}

/** `Certificates.placeholder`. */
export async function placeholderCertificate(name: string): Promise<string> {
  // Any self-signed certificate will do; the library makes this kind.
  const [key, certificate] = await crypto.createAlpnCertificate({ identifier: { type: 'dns', value: name } } as never, 'placeholder')
  return `${certificate}\n${key}`
}

async function orderAt(directory: string, order: CertificateOrder, signal: AbortSignal): Promise<string> {
  const client = new Client({
    directoryUrl: directory,
    accountKey: accountKey(order.folder, directory),
    backoffAttempts: 20,
    backoffMin: 1_000,
    backoffMax: 15_000
  })
  const key = newKey()
  const [, request] = await crypto.createCsr({ altNames: [order.name] }, key)
  const challenge = await openChallenge(order.challenge, order.name, signal)
  try {
    await findAccount(client)
    const chain = await untilAborted(
      signal,
      client.auto({
        csr: request,
        termsOfServiceAgreed: true,
        challengePriority: [challenge.type],
        // It would ask our own port 80 by our public name, which many routers do not forward from inside.
        skipChallengeVerification: true,
        challengeCreateFn(authorization, offered, answer) {
          signal.throwIfAborted()
          if (offered.type !== challenge.type)
            throw new Error(`The authority offers no ${challenge.type} for ${authorization.identifier.value}.`)
          return challenge.show(offered.token, answer)
        },
        challengeRemoveFn: (_authorization, offered, answer) => challenge.hide(offered.token, answer)
      })
    )
    return `${chain.trim()}\n${key}`
  } catch (error) {
    signal.throwIfAborted()
    throw new CannotStart(`${new URL(directory).host} issued no certificate for ${order.name}: ${reasonOf(error)}`, undefined, {
      cause: error
    })
  } finally {
    await challenge.close()
  }
}

// Otherwise the library would send an update for an account that exists, which some authorities refuse.
async function findAccount(client: Client): Promise<void> {
  try {
    await client.createAccount({ onlyReturnExisting: true })
  } catch (error) {
    // No answer at all; a refusal means that there is no account yet.
    if (error instanceof Error && 'code' in error) throw error
  }
}

// The library cannot be interrupted; it ends by itself, since its challenge is closed.
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', onAbort))
}

/** The key of our account at this authority, made at the first order. */
function accountKey(folder: string, directory: string): string {
  const file = join(folder, `account-${new URL(directory).host.replaceAll(/[^\w.-]/g, '-')}.pem`)
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const key = newKey()
    writePrivateFile(file, key)
    return key
  }
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

// What the library says of a failed connection has no name in it.
function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const words = typeof message === 'string' && message !== '' ? message : 'it does not answer'
  const text = typeof code === 'string' && !words.includes(code) ? `${words} (${code})` : words
  return text.replaceAll(/\s+/g, ' ').replace(/\.?$/, '.')
}
