import { readFileSync } from 'node:fs'
import { platform, userInfo, version } from 'node:os'
import type { AskerAbout } from '../../protocol/sealed/asker.ts'

/** What this computer says of itself to the phone that shall let it in: its system, and as whom its programs run. */
export function aboutComputer(): AskerAbout {
  const isRoot = process.getuid?.() === 0
  return { os: systemName().slice(0, 60), ...userName(), ...(isRoot && { isRoot }) }
}

/** As people call it: "Debian GNU/Linux 12 (bookworm)", "macOS", "Windows 11 Pro". */
function systemName(): string {
  switch (platform()) {
    case 'linux':
      return distribution() ?? 'Linux'
    case 'darwin':
      return 'macOS'
    case 'win32':
      return version()
    default:
      return platform()
  }
}

function distribution(): string | undefined {
  try {
    return /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

// A user without an entry has a number and no name.
function userName(): { user?: string } {
  try {
    return { user: userInfo().username.slice(0, 60) }
  } catch {
    return {}
  }
}
