import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { CannotStart } from '../../exit.ts'
import { launchd, plistOf } from '../../service/launchd.ts'
import type { ServiceManager } from '../../service/manager.ts'
import { commandOf, quoted, systemd } from '../../service/systemd.ts'
import { ownProgram, typed } from '../home/own-process.ts'

/** How the system starts the daemon with the person's login session and restarts it when it ends. */
interface Service extends Pick<ServiceManager, 'file' | 'refuseIfUnable' | 'uninstall'> {
  install(daemon: ServedDaemon): void
}

interface ServedDaemon {
  home: string
  /** The one that the person is linked to there. */
  server: string
}

type Env = Readonly<Record<string, string | undefined>>

/** A user unit of systemd, or an agent of launchd. Throws CannotStart if there is neither. */
export function findService(env: Env): Service {
  if (process.platform === 'darwin') return ofLaunchd(env)
  if (process.platform === 'linux') return ofSystemd(env)
  throw new CannotStart(`Afield cannot start automatically on this system. Start the daemon yourself with:\n  ${typed('daemon start')}`)
}

function programOf({ server }: ServedDaemon): string[] {
  const { command, args } = ownProgram(['daemon', 'run', '--server', server])
  return [command, ...args]
}

// The network settings, and where agents and their settings are: a service starts without the environment
// of the person's shell.
const keptNames = [
  'PATH',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  ...['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'].flatMap(name => [name, name.toUpperCase()]),
  'CLAUDE_CONFIG_DIR',
  'CLAUDE_CODE_EXECUTABLE',
  'CODEX_HOME',
  'CODEX_BIN',
  'OPENCODE_BIN_PATH',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME'
]

function environmentOf({ home }: ServedDaemon, env: Env): [name: string, value: string][] {
  const kept = keptNames.flatMap(name => (env[name] ? [[name, env[name]] satisfies [string, string]] : []))
  return [['AFIELD_HOME', home], ['AFIELD_SERVICE', '1'], ...kept]
}

function ofSystemd(env: Env): Service {
  const file = join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'systemd', 'user', 'afield.service')
  const manager = systemd({ file, scope: 'user' })
  return { ...manager, install: daemon => manager.install(unitOf(daemon, env)) }
}

function unitOf(daemon: ServedDaemon, env: Env): string {
  const environment = environmentOf(daemon, env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`)
  return `[Unit]
Description=Afield: keeps this computer reachable from your phone

[Service]
ExecStart=${commandOf(programOf(daemon))}
${environment.join('\n')}
Restart=on-failure
RestartSec=5
# Sessions are separate processes: they continue when the daemon exits.
KillMode=process

[Install]
WantedBy=default.target
`
}

function ofLaunchd(env: Env): Service {
  const label = 'dev.afield.daemon'
  const file = join(homedir(), 'Library', 'LaunchAgents', `${label}.plist`)
  const manager = launchd({ file, label, domain: `gui/${userInfo().uid}` })
  const definition = (daemon: ServedDaemon) =>
    plistOf({ label, command: programOf(daemon), environment: environmentOf(daemon, env), leavesChildren: true })
  return { ...manager, install: daemon => manager.install(definition(daemon)) }
}
