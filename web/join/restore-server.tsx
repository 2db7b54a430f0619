import { useProgram } from '../machines/link-command.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { joining } from '../words/joining.ts'

/**
 * How the data of another server gets onto this one, which has no account yet. It is not uploaded here: a stranger could, before the owner
 * has come.
 */
export function RestoreServer() {
  const line = `${useProgram()} restore ${joining.restoreServer.file}`
  return (
    <details class="w-restore">
      <summary>{joining.restoreServer.title}</summary>
      <p class="hint">{joining.restoreServer.how}</p>
      <div class="irow command">
        <code>{line}</code>
        <CopyButton text={line} what={line} />
      </div>
      <p class="hint">{joining.restoreServer.next}</p>
    </details>
  )
}
