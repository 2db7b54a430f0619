/** A program that makes a port of this computer reachable under an address of its own. */
interface TunnelKind {
  program: string
  install: string
  args(port: number): string[]
  /** The public address, if this line of its output has it. */
  addressIn(line: string): string | undefined
  /** Whether a person has to act on this line. */
  isForPerson(line: string): boolean
}

export const tunnelKinds = {
  cloudflared: {
    program: 'cloudflared',
    install: 'package cloudflared of Cloudflare',
    args: port => ['tunnel', '--no-autoupdate', '--url', `http://127.0.0.1:${port}`],
    // Errors name api.trycloudflare.com.
    addressIn: line => /https:\/\/(?!api\.)[a-z0-9-]+\.trycloudflare\.com\b/.exec(line)?.[0],
    isForPerson: () => false
  },
  tailscale: {
    program: 'tailscale',
    install: 'tailscale.com/download',
    args: port => ['funnel', String(port)],
    addressIn: line => /https:\/\/[a-z0-9.-]+\.ts\.net\b(?::\d+)?/.exec(line)?.[0],
    // Funnel is turned on for a network by opening a link that it prints.
    isForPerson: line => line.includes('https://login.tailscale.com/')
  }
} as const satisfies Record<string, TunnelKind>
