import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { CannotStart } from '../../exit.ts'
import { ownProgram } from '../own-program.ts'

/** How the system starts the daemon with the person's session and starts it again when it ends. */
export interface Service {
  /** The file that says so. */
  readonly file: string
  install(): void
  uninstall(): void
}

/** A user unit of systemd, or an agent of launchd. Throws CannotStart where there is neither. */
export function findService(home: string, env: Readonly<Record<string, string | undefined>>): Service {
  if (process.platform === 'darwin') return launchd(home)
  if (process.platform === 'linux') return systemd(home, env)
  throw new CannotStart('Afield knows no way to start with this system. Start the daemon yourself with: afield daemon start')
}

function systemd(home: string, env: Readonly<Record<string, string | undefined>>): Service {
  const file = join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'systemd', 'user', 'afield.service')
  const { command, args } = ownProgram(['daemon', 'run'])
  const unit = `[Unit]
Description=Afield: keeps this computer reachable from your phone
After=network-online.target

[Service]
ExecStart=${[command, ...args].map(quoted).join(' ')}
Environment=${quoted(`AFIELD_HOME=${home}`)} AFIELD_SERVICE=1 ${quoted(`PATH=${env['PATH'] ?? ''}`)}
Restart=on-failure
RestartSec=5
# Sessions are processes of their own: they go on when the daemon ends.
KillMode=process

[Install]
WantedBy=default.target
`
  return {
    file,
    install() {
      save(file, unit)
      run('systemctl', ['--user', 'daemon-reload'])
      run('systemctl', ['--user', 'enable', '--now', 'afield.service'])
    },
    uninstall() {
      run('systemctl', ['--user', 'disable', '--now', 'afield.service'])
      rmSync(file, { force: true })
      run('systemctl', ['--user', 'daemon-reload'])
    }
  }
}

function launchd(home: string): Service {
  const label = 'dev.afield.daemon'
  const file = join(homedir(), 'Library', 'LaunchAgents', `${label}.plist`)
  const { command, args } = ownProgram(['daemon', 'run'])
  const words = [command, ...args].map(word => `    <string>${escaped(word)}</string>`).join('\n')
  const plist = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${label}</string>
  <key>ProgramArguments</key>
  <array>
${words}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>AFIELD_HOME</key><string>${escaped(home)}</string>
    <key>AFIELD_SERVICE</key><string>1</string>
    <key>PATH</key><string>${escaped(process.env['PATH'] ?? '')}</string>
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>AbandonProcessGroup</key><true/>
</dict>
</plist>
`
  const domain = `gui/${userInfo().uid}`
  return {
    file,
    install() {
      save(file, plist)
      run('launchctl', ['bootstrap', domain, file])
    },
    uninstall() {
      run('launchctl', ['bootout', `${domain}/${label}`])
      rmSync(file, { force: true })
    }
  }
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

/** As systemd reads words: in quotes, with its own signs doubled. */
function quoted(word: string): string {
  return `"${word.replace(/[\\"]/g, '\\$&').replace(/%/g, '%%').replace(/\$/g, '$$$$')}"`
}

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}
