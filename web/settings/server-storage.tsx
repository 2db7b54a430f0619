import { home } from '../model/home.ts'
import { settings } from '../words/settings.ts'
import { bytes } from '../words/size.ts'
import { Loaded } from './loaded.tsx'
import { readStorage, type ServerStorage } from './server-storage.ts'

/** The account's storage on the server: how much it uses and may use, and for how long data is kept. */
export function ServerStorageSection() {
  return (
    <section class="grp">
      <h2>{settings.there}</h2>
      <Loaded read={readStorage} show={there => (there === 'unsupported' ? <Unsupported /> : <Amounts there={there} />)} />
    </section>
  )
}

function Unsupported() {
  return (
    <p class="lead">
      {settings.thereUntold} {settings.thereListed(home.value.sessions.size)}
    </p>
  )
}

function Amounts({ there: { sessions, messages, bytes: sizes, quotas, keepSessionsDays } }: { there: ServerStorage }) {
  const { number, of } = settings.amounts
  const counted = sizes.messages + sizes.attachments + sizes.artifacts
  const rows: readonly (readonly [name: string, amount: string] | false)[] = [
    [settings.thereSessions, of(number(sessions), quotas.sessions === null ? undefined : number(quotas.sessions))],
    [settings.thereMessages, of(number(messages), quotas.messages === null ? undefined : number(quotas.messages))],
    [settings.thereMessageBytes, bytes(sizes.messages)],
    [settings.thereAttachments, bytes(sizes.attachments)],
    sizes.artifacts > 0 && [settings.thereArtifacts, bytes(sizes.artifacts)],
    [settings.thereTogether, of(bytes(counted), quotas.bytes === null ? undefined : bytes(quotas.bytes))],
    [settings.thereState, bytes(sizes.state)],
    [settings.thereKept, settings.thereKeptFor(keepSessionsDays)]
  ]
  return (
    <dl class="facts">
      {rows.map(
        row =>
          row && (
            <div key={row[0]}>
              <dt>{row[0]}</dt>
              <dd>{row[1]}</dd>
            </div>
          )
      )}
    </dl>
  )
}
