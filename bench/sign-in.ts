import { cryptoReady } from '../lib/crypto/index.ts'
import { bareSignIn } from './kit/bare-sign-in.ts'
import { isChild, type Target } from './kit/child.ts'
import { compareCosts, type Load } from './kit/compare.ts'
import { newSigner } from './kit/keys.ts'
import { openPoster, postText } from './kit/raw-http.ts'
import { openRawSocket } from './kit/raw-socket.ts'
import { afieldServer } from './kit/server.ts'

/**
 * The server's processor time for a device signing in: it posts a signed challenge, gets a token and opens a socket with it.
 * Afield beside the same signature check, sync and handshake with nothing else.
 */
const rounds = 3
const devices = 32
const signIns = 3_000

if (isChild) await (process.argv[2] === 'bare' ? bareSignIn() : afieldServer())
else await main()

async function main() {
  await cryptoReady()
  console.log(`sign-in: a signed challenge, then a socket, ${devices} at once; µs of CPU each, median of ${rounds}`)
  await compareCosts({ file: import.meta.filename, title: 'sign in and connect', rounds, pieces: signIns, open: openDevices })
}

async function openDevices({ target: { port } }: { target: Target }): Promise<Load> {
  const open = await Promise.all(Array.from({ length: devices }, async () => ({ poster: await openPoster(port), sign: newSigner() })))
  return {
    async run(signIns) {
      let left = signIns
      const comeAgain = async ({ poster, sign }: (typeof open)[number]) => {
        while (left > 0) {
          left -= 1
          const { token } = JSON.parse(await poster.post(postText('/v1/auth', sign())))
          const socket = await openRawSocket({ port, auth: { token, clientType: 'user-scoped' } })
          socket.close()
          await socket.closed
        }
      }
      await Promise.all(open.map(comeAgain))
    },
    async close() {
      for (const { poster } of open) poster.close()
    }
  }
}
