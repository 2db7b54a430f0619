import { nonceKeptMs } from '../../lib/store/access/sign-in.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps, Queries } from '../engine/deps.ts'

/** What the instances of a server share, such as the key of its nonces. */
export function nonces({ write }: Deps): Pick<Store, 'keepSecret' | 'forgetSecret'> {
  async function keep(tx: Queries, name: string, fresh: Uint8Array): Promise<Buffer> {
    await tx.run('INSERT INTO server_secret (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [name, Buffer.from(fresh)])
    // A statement of its own: it sees what another instance committed while the first one waited for it.
    const kept = await tx.get<{ value: Buffer }>('SELECT value FROM server_secret WHERE name = $1', [name])
    if (!kept) throw new Error('The secret was not stored')
    return kept.value
  }

  return {
    keepSecret: (name, fresh) => write('shared', tx => keep(tx, name, fresh)),
    forgetSecret: name => write('shared', async tx => void (await tx.run('DELETE FROM server_secret WHERE name = $1', [name])))
  }
}

/** Uses up a nonce as part of the caller's transaction; false if it was used before. */
export async function spendNonce(tx: Queries, hash: string, now: number): Promise<boolean> {
  // Instances that forget at the same time do not wait for each other.
  await tx.run('DELETE FROM used_nonce WHERE hash IN (SELECT hash FROM used_nonce WHERE at < $1 FOR UPDATE SKIP LOCKED)', [
    Math.floor(now) - nonceKeptMs
  ])
  const spent = await tx.run('INSERT INTO used_nonce (hash, at) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    Buffer.from(hash, 'base64url'),
    Math.floor(now)
  ])
  return spent > 0
}
