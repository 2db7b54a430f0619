import { Fragment } from 'preact'
import { useAnswer } from '../ui/behavior/answer.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { homeWords } from '../words/home.ts'

/**
 * The command that links a computer to this account, depending on how the server was installed. With `starts` it also starts an agent
 * there, so that one command leads to the first session.
 */
export function LinkCommand({ starts = false }: { starts?: boolean }) {
  const program = useProgram()
  const line = `${program} ${starts ? 'claude' : 'login'} --server ${location.origin}`
  return (
    <div class="link-command">
      <div class="irow command">
        <span>
          <code>
            {line.split(' ').map(word => (
              <Fragment key={word}>
                <span>{word}</span>{' '}
              </Fragment>
            ))}
          </code>
        </span>
        <CopyButton text={line} what={line} />
      </div>
      {starts && <p class="hint">{homeWords.orDemo}</p>}
      {program !== 'afield' && <p class="hint">{homeWords.inSources}</p>}
      {isOnlyHere() && <p class="hint">{homeWords.onlyHere}</p>}
    </div>
  )
}

/** True if no other machine can reach the server at the address of this page. */
function isOnlyHere(): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(location.hostname)
}

/** The prefix of Afield commands; the default until the server has reported it. */
export function useProgram(): string {
  return useAnswer(async () => (await import('../model/account/about.ts')).askServer(), []).value?.program ?? 'afield'
}
