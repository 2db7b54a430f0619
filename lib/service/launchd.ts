import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { runTool, type ServiceManager, saveDefinition } from './manager.ts'

/** `domain` is `system`, or `gui/` and the number of a user. */
export function launchd({ file, domain, label }: { file: string; domain: string; label: string }): ServiceManager {
  const name = `${domain}/${label}`
  return {
    file,
    refuseIfUnable() {},
    install(definition) {
      // One already known is not loaded again.
      spawnSync('launchctl', ['bootout', name])
      saveDefinition(file, definition)
      runTool('launchctl', ['bootstrap', domain, file])
    },
    uninstall() {
      runTool('launchctl', ['bootout', name])
      rmSync(file, { force: true })
    },
    isRunning: () => /^\s*state = running$/m.test(spawnSync('launchctl', ['print', name], { encoding: 'utf8' }).stdout ?? '')
  }
}

interface Plist {
  label: string
  command: readonly string[]
  environment?: readonly (readonly [name: string, value: string])[]
  /** Of a file for what it prints. */
  log?: string
  /** Whether programs that it started may outlive it. */
  leavesChildren?: boolean
}

export function plistOf({ label, command, environment = [], log, leavesChildren = false }: Plist): string {
  const words = command.map(word => `    <string>${escapedXml(word)}</string>`)
  const variables = environment.map(([name, value]) => `    <key>${name}</key><string>${escapedXml(value)}</string>`)
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
${variables.join('\n')}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>${log ? `\n  <key>StandardErrorPath</key><string>${escapedXml(log)}</string>` : ''}${leavesChildren ? '\n  <key>AbandonProcessGroup</key><true/>' : ''}
</dict>
</plist>
`
}

export function escapedXml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}
