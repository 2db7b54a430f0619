import { TypedCommand } from '../machines/daemon-maintenance.tsx'
import type { Choices } from '../model/machine-choices.ts'
import { Problem } from '../ui/banner.tsx'
import { Icon } from '../ui/icons/icon.tsx'
import { start as words } from '../words/start.ts'

type Agent = Choices['agents'][number]

/** An agent that can start now, as far as the machine knows. */
export function isReady({ isSignedIn }: Agent): boolean {
  return isSignedIn !== false
}

/** The agents of a machine; for those that cannot start, what to run there first. */
export function AgentPicker(props: { choices: Choices; host: string; chosen: string | undefined; onChoose(agent: string): void }) {
  const { agents, missingAgents = [] } = props.choices
  const ready = agents.filter(isReady)
  return (
    <>
      {agents.length === 0 && <Problem title={words.noAgent(props.host)} text={words.noAgentText} />}
      {ready.length > 0 && (
        <fieldset class="picks">
          <legend>{words.agent}</legend>
          {ready.map(({ agent, title }) => (
            <label key={agent} class="pick">
              <input type="radio" name="agent" checked={agent === props.chosen} onChange={() => props.onChoose(agent)} />
              <span dir="auto">{title}</span>
            </label>
          ))}
        </fieldset>
      )}
      {agents
        .filter(agent => !isReady(agent))
        .map(({ agent, title, signIn }) => (
          <section key={agent} class="card tight not-ready">
            <div class="irow">
              <Icon name="key-round" />
              <span>
                <b dir="auto">{title}</b>
                <small>{words.signInThere}</small>
              </span>
            </div>
            {signIn !== undefined && <TypedCommand text={signIn} />}
          </section>
        ))}
      {missingAgents.length > 0 && (
        <details class="card tight missing" open={agents.length === 0}>
          <summary class="irow">
            <Icon name="circle-dashed" />
            <span>
              <b>{words.notThere(props.host)}</b>
              <small dir="auto">{missingAgents.map(({ title }) => title).join(', ')}</small>
            </span>
            <Icon name="chevron-down" class="chev" />
          </summary>
          {missingAgents.map(({ agent, title, install }) => (
            <div key={agent} class="not-ready">
              <div class="irow">
                <span>
                  <b dir="auto">{title}</b>
                  <small>{words.notThereText}</small>
                </span>
              </div>
              <TypedCommand text={install} />
            </div>
          ))}
        </details>
      )}
    </>
  )
}
