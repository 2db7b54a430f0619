import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { CannotStart } from '../../exit.ts'
import { ownProgram, typed } from '../home/own-process.ts'
import { plain } from '../terminal/style.ts'

/** How the system starts the daemon with the person's login session and restarts it when it ends. */
interface Service {
  /** The service definition. */
  readonly file: string
  /**
   * Throws CannotStart if the service manager cannot be used, before anything is changed; `instead` says
   * what a person can do then.
   */
  refuseIfUnable(instead: string): void
  /** Also in place of an earlier one. */
  install(daemon: ServedDaemon): void
  uninstall(): void
}

interface ServedDaemon {
  home: string
  /** The one that the person is linked to there. */
  server: string
}

type Env = Readonly<Record<string, string | undefined>>

/** A user unit of systemd, or an agent of launchd. Throws CannotStart if there is neither. */
export function findService(env: Env): Service {
  if (process.platform === 'darwin') return launchd(env)
  if (process.platform === 'linux') return systemd(env)
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

function systemd(env: Env): Service {
  const file = join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'systemd', 'user', 'afield.service')
  return {
    file,
    refuseIfUnable(instead) {
      const { error, status, stderr } = spawnSync('systemctl', ['--user', 'show-environment'], { encoding: 'utf8' })
      if (!error && status === 0) return
      const why = error
        ? 'This system has no systemd'
        : `systemd is not responding here (${plain(stderr)}); it only does in your own login session, not after su or in a container`
      throw new CannotStart(`${why}. ${instead}`)
    },
    install(daemon) {
      save(file, unitOf(daemon, env))
      run('systemctl', ['--user', 'daemon-reload'])
      run('systemctl', ['--user', 'enable', 'afield.service'])
      // Also one that already runs with an earlier unit.
      run('systemctl', ['--user', 'restart', 'afield.service'])
    },
    uninstall() {
      run('systemctl', ['--user', 'disable', '--now', 'afield.service'])
      rmSync(file, { force: true })
      run('systemctl', ['--user', 'daemon-reload'])
    }
  }
}

function unitOf(daemon: ServedDaemon, env: Env): string {
  const environment = environmentOf(daemon, env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`)
  return `[Unit]
Description=Afield: keeps this computer reachable from your phone

[Service]
ExecStart=${programOf(daemon)
    .map(word => quoted(word).replaceAll('$', '$$$$'))
    .join(' ')}
${environment.join('\n')}
Restart=on-failure
RestartSec=5
# Sessions are separate processes: they continue when the daemon exits.
KillMode=process

[Install]
WantedBy=default.target
`
}

function launchd(env: Env): Service {
  const label = 'dev.afield.daemon'
  const file = join(homedir(), 'Library', 'LaunchAgents', `${label}.plist`)
  const domain = `gui/${userInfo().uid}`
  return {
    file,
    refuseIfUnable() {},
    install(daemon) {
      // One already known is not loaded again.
      spawnSync('launchctl', ['bootout', `${domain}/${label}`])
      save(file, plistOf(label, daemon, env))
      run('launchctl', ['bootstrap', domain, file])
    },
    uninstall() {
      run('launchctl', ['bootout', `${domain}/${label}`])
      rmSync(file, { force: true })
    }
  }
}

function plistOf(label: string, daemon: ServedDaemon, env: Env): string {
  const words = programOf(daemon).map(word => `    <string>${escaped(word)}</string>`)
  const environment = environmentOf(daemon, env).map(([name, value]) => `    <key>${name}</key><string>${escaped(value)}</string>`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${label}</string>
  <key>ProgramArguments</key>
  <array>
${words.join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${environment.join('\n')}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>AbandonProcessGroup</key><true/>
</dict>
</plist>
`
}

function save(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode: 0o600 })
}

function run(command: string, args: readonly string[]): void {
  const { error, status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error) throw new CannotStart(`${command} cannot be run here: ${error.message}`)
  if (status !== 0) throw new CannotStart(`${command} ${args.join(' ')} failed: ${stderr.trim() || `exit code ${status}`}`)
}

/**
 * In systemd's word syntax: quoted, with its special characters doubled. A dollar is one of them only in
 * commands.
 */
function quoted(word: string): string {
  return `"${word.replace(/[\\"]/g, '\\$&').replace(/%/g, '%%')}"`
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}
