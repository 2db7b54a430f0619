import * as v from '../../schema.ts'
import { runProgram } from '../foreign-program.ts'
import type { Source } from './renewal.ts'

/** What the `tailscale` program of this computer says. */
export type Tailscale = { state: 'missing' | 'logged-out' } | { state: 'no-https' | 'ready'; name: string }

const statusLimitMs = 10_000
const certificateLimitMs = 3 * 60_000

const status = v.looseObject({
  BackendState: v.string(),
  Self: v.optional(v.nullable(v.looseObject({ DNSName: v.optional(v.string()) }))),
  CertDomains: v.optional(v.nullable(v.array(v.string())))
})

export async function lookAtTailscale(limitMs = statusLimitMs): Promise<Tailscale> {
  const { code, output } = await runProgram('tailscale', ['status', '--json'], { limitMs })
  if (code === undefined) return { state: 'missing' }
  const { data } = v.safeParse(status, v.jsonOf(output))
  const name = data?.Self?.DNSName?.replace(/\.$/, '').toLowerCase() ?? ''
  if (data?.BackendState !== 'Running' || name === '') return { state: 'logged-out' }
  return { state: data.CertDomains?.includes(name) ? 'ready' : 'no-https', name }
}

/** Tailscale gets the certificate of the computer's name and renews it when asked again before its end. */
export function tailscaleSource(name: string): Source {
  return {
    name,
    authority: 'Tailscale',
    async obtain(_isTried, signal) {
      // A hyphen prints it, so that the key is in no file of another program.
      const args = ['cert', '--cert-file', '-', '--key-file', '-', name]
      const { code, output, complaint } = await runProgram('tailscale', args, { limitMs: certificateLimitMs, signal })
      if (code !== 0) throw new Error(`tailscale cert failed: ${complaint || howEnded(code)}`)
      return output
    }
  }
}

function howEnded(code: number | null | undefined): string {
  return code === null ? 'it was killed, or took more than three minutes' : `it exited with ${code}`
}
