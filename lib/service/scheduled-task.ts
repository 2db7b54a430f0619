import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { escapedXml } from './launchd.ts'
import { runTool, type ServiceManager, saveDefinition } from './manager.ts'

/** The task scheduler of Windows: the program runs while its person is signed in. */
export function scheduledTask({ file, name }: { file: string; name: string }): ServiceManager {
  return {
    file,
    refuseIfUnable() {},
    install(definition) {
      // It reads UTF-16 only, with its mark.
      saveDefinition(file, Buffer.from(`\uFEFF${definition}`, 'utf16le'))
      runTool('schtasks', ['/Create', '/TN', name, '/XML', file, '/F'])
      spawnSync('schtasks', ['/End', '/TN', name])
      runTool('schtasks', ['/Run', '/TN', name])
    },
    uninstall() {
      spawnSync('schtasks', ['/End', '/TN', name])
      runTool('schtasks', ['/Delete', '/TN', name, '/F'])
      rmSync(file, { force: true })
    },
    isRunning: () => /Running/.test(spawnSync('schtasks', ['/Query', '/TN', name, '/FO', 'CSV'], { encoding: 'utf8' }).stdout ?? '')
  }
}

export function taskOf([program = '', ...args]: readonly string[]): string {
  const words = args.map(word => (/[\s"]/.test(word) ? `"${word.replaceAll('"', '\\"')}"` : word))
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>Afield server</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>3</Count></RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>${escapedXml(program)}</Command>
      <Arguments>${escapedXml(words.join(' '))}</Arguments>
    </Exec>
  </Actions>
</Task>
`
}
