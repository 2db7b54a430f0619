import { appVersion, diagnose, serverVersion } from '../model/account/about.ts'
import { home } from '../model/home.ts'
import { useAnswer } from '../ui/behavior/answer.ts'
import { Button } from '../ui/button.tsx'
import { copy } from '../ui/copy.ts'
import { Icon } from '../ui/icons/icon.tsx'
import { Logo } from '../ui/icons/logo.tsx'
import { words } from '../words/index.ts'
import { lists } from '../words/lists.ts'
import { settings } from '../words/settings.ts'

export function AboutPage() {
  const { value: version } = useAnswer(serverVersion, [])
  const daemons = [...home.value.machines.values()].flatMap(({ id, metadata }) => (metadata ? [{ id, metadata }] : []))
  return (
    <>
      <div class="about-mark">
        <Logo size={64} />
        <b>{words.app}</b>
      </div>
      <p class="lead">{settings.about.lead}</p>
      <dl class="facts">
        <div>
          <dt>{settings.about.app}</dt>
          <dd>{appVersion}</dd>
        </div>
        <div>
          <dt>{settings.about.server}</dt>
          <dd>{version === undefined ? location.host : version + lists.comma + location.host}</dd>
        </div>
        {daemons.length > 0 && (
          <div>
            <dt>{settings.daemons}</dt>
            <dd>
              {daemons.map(({ id, metadata }) => (
                <div key={id}>{settings.daemonOn(metadata.happyCliVersion, metadata.displayName ?? metadata.host)}</div>
              ))}
            </dd>
          </div>
        )}
      </dl>
      <section class="grp">
        <h2>{settings.diagnostics}</h2>
        <p class="lead">{settings.diagnosticsHint}</p>
        <div class="acts">
          <Button look="quiet" icon="copy" onClick={() => void diagnose(version).then(copy)}>
            {settings.diagnosticsCopy}
          </Button>
        </div>
      </section>
      <section class="grp">
        <h2>{settings.about.licences}</h2>
        <p class="lead">{settings.about.licencesText}</p>
        <a class="btn text" href="/licences.txt" target="_blank" rel="noreferrer">
          {settings.licencesAll}
        </a>
      </section>
      <p class="note">
        <Icon name="lock-keyhole" />
        {settings.about.storage}
      </p>
    </>
  )
}
