import { LinkCommand, useProgram } from '../machines/link-command.tsx'
import { ButtonLink } from '../ui/button.tsx'
import { copy } from '../ui/copy.ts'
import { Icon } from '../ui/icons/icon.tsx'
import { words } from '../words/index.ts'

/** Commands that start a session on the computer where the code is. Each can be copied and says what it does. */
export function CommandCards() {
  const program = useProgram()
  return (
    <>
      <div class="intro">
        <h2>{words.new.heading}</h2>
        <p class="lead">{words.new.lead}</p>
        {program !== 'afield' && <p class="hint">{words.new.inClone}</p>}
      </div>
      <div class="card tight">
        <Command line={`${program} claude`} about={words.new.claude} />
        <Command line={`${program} run -- opencode acp`} about={words.new.run} />
        <Command line={`${program} demo`} about={words.new.demo} />
      </div>
    </>
  )
}

export function FirstTime() {
  return (
    <section class="card form">
      <div class="intro">
        <h2 class="card-h">{words.new.firstTime}</h2>
        <p class="lead">{words.new.firstTimeText}</p>
      </div>
      <LinkCommand />
      <ButtonLink look="primary" href="/scan" icon="scan-line" isWide>
        {words.new.scan}
      </ButtonLink>
    </section>
  )
}

function Command({ line, about }: { line: string; about: string }) {
  return (
    <div class="irow command">
      <Icon name="square-terminal" />
      <span>
        <b>
          <code>{line}</code>
        </b>
        <small>{about}</small>
      </span>
      <button class="ib" type="button" aria-label={words.new.copy(line)} onClick={() => void copy(line)}>
        <Icon name="copy" />
      </button>
    </div>
  )
}
