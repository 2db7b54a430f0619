import { useEffect, useState } from 'preact/hooks'
import { isOn } from '../../core/preferences.ts'
import { askMachine, type MachineLink } from '../../model/account/machine-call.ts'
import { start as words } from '../../words/start.ts'

/** The log of a slow start on its machine; empty if its daemon does not report one. In low-data mode only on request. */
export function StartLog({ link, machine, start, host }: { link: MachineLink; machine: string; start: string; host: string }) {
  const [isAsked, askFor] = useState(!isOn('lowData'))
  const [lines, setLines] = useState<readonly string[]>([])
  useEffect(() => {
    if (!isAsked) return
    let isGone = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      const answer = await askMachine(link, machine, 'start-log', { start })
      if (isGone) return
      if (answer.type === 'answered') setLines(answer.result.lines)
      timer = setTimeout(() => void ask(), againMs)
    }
    void ask()
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [isAsked, link, machine, start])
  if (!isAsked) {
    return (
      <button class="txt" type="button" onClick={() => askFor(true)}>
        {words.showLines(host)}
      </button>
    )
  }
  if (lines.length === 0) return null
  return (
    <div class="said start-log">
      <span>{words.lastLines(host)}</span>
      <pre dir="auto">{lines.join('\n')}</pre>
    </div>
  )
}

const againMs = 2_000
