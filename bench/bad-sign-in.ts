import { cryptoReady } from '../lib/crypto/index.ts'
import { isChild, startChild } from './kit/child.ts'
import { costOf } from './kit/compare.ts'
import { newSigner } from './kit/keys.ts'
import { openPoster, postText } from './kit/raw-http.ts'
import { afieldServer } from './kit/server.ts'

/** The cost of rejecting bad signatures without rate limits [Q5]. */
const tries = 1_000
const connections = 8

if (isChild) await afieldServer()
else await main()

async function main() {
  await cryptoReady()
  const child = await startChild(import.meta.filename, 'afield')
  const posters = await Promise.all(Array.from({ length: connections }, () => openPoster(child.target.port)))
  const sign = newSigner()
  const run = async (count: number) => {
    let left = count
    const keepTrying = async (poster: (typeof posters)[number]) => {
      while (left > 0) {
        left -= 1
        const claim = JSON.parse(sign())
        const { signature } = JSON.parse(sign())
        await poster.post(postText('/v1/auth', JSON.stringify({ ...claim, signature })), 401)
      }
    }
    await Promise.all(posters.map(keepTrying))
  }
  await run(tries / 4)
  const us = await costOf(child, tries, { run })
  await child.stop()
  for (const poster of posters) poster.close()
  console.log(
    `bad-sign-in: ${us.toFixed(1)} µs of CPU to refuse one; ${tries} a second take ${((tries * us) / 1e4).toFixed(0)} % of one processor`
  )
}
