import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../icons/icon.tsx'
import { Logo } from '../icons/logo.tsx'
import { Button, ButtonLink } from '../parts/button.tsx'
import { copySecret } from '../parts/copy.ts'
import { KeyGroups, useIsShown, useKeyText } from '../parts/key-groups.tsx'
import { account } from '../state/account.ts'
import { type Confirming, chooseConfirming, chooseTheme, confirming, type Theme, theme } from '../state/preferences.ts'
import { words } from '../words/index.ts'

export function KeyPage() {
  const [wantsToSee, setWantsToSee] = useState(false)
  const key = useKeyText()
  const isShown = useIsShown()
  const here = account.value
  const isChecked = here.type === 'here' && here.keyCheckedAt !== undefined
  return (
    <>
      <p class="lead">{words.keySettings.lead}</p>
      {wantsToSee && <KeyGroups value={key} isShown={isShown} />}
      <div class="acts">
        <Button look="quiet" icon={wantsToSee ? 'eye-off' : 'eye'} onClick={() => setWantsToSee(!wantsToSee)}>
          {wantsToSee ? words.keySettings.hide : words.keySettings.show}
        </Button>
        {wantsToSee && (
          <Button look="quiet" icon="copy" onClick={() => key && void copySecret(key)}>
            {words.key.copy}
          </Button>
        )}
      </div>
      <ButtonLink look="primary" href="/start/check" isWide>
        {isChecked ? words.keySettings.checkAgain : words.keySettings.check}
      </ButtonLink>
    </>
  )
}

export function AppearancePage() {
  return (
    <>
      <section class="grp">
        <h2 id="theme-h">{words.appearance.theme}</h2>
        <div class="card tight" role="radiogroup" aria-labelledby="theme-h">
          {(['system', 'light', 'dark'] as const satisfies Theme[]).map(each => (
            <Choice
              key={each}
              name="theme"
              title={words.appearance[each]}
              isChosen={theme.value === each}
              onChoose={() => chooseTheme(each)}
            />
          ))}
        </div>
      </section>
      <section class="grp">
        <h2 id="confirm-h">{words.appearance.confirm}</h2>
        <div class="card tight" role="radiogroup" aria-labelledby="confirm-h">
          {(['hold', 'taps'] as const satisfies Confirming[]).map(each => (
            <Choice
              key={each}
              name="confirming"
              title={words.appearance[each]}
              text={words.appearance[`${each}Hint`]}
              isChosen={confirming.value === each}
              onChoose={() => chooseConfirming(each)}
            />
          ))}
        </div>
      </section>
    </>
  )
}

function Choice(props: { name: string; title: string; text?: string; isChosen: boolean; onChoose(): void }) {
  return (
    <label class="irow">
      <input type="radio" name={props.name} checked={props.isChosen} onChange={props.onChoose} />
      <span>
        <b>{props.title}</b>
        {props.text && <small>{props.text}</small>}
      </span>
    </label>
  )
}

export function AboutPage() {
  const version = useServerVersion()
  return (
    <>
      <div class="about-mark">
        <Logo size={64} />
        <b>{words.app}</b>
      </div>
      <p class="lead">{words.about.lead}</p>
      <dl class="facts">
        <div>
          <dt>{words.about.server}</dt>
          <dd>{location.host}</dd>
        </div>
        {version && (
          <div>
            <dt>{words.about.app}</dt>
            <dd>{version}</dd>
          </div>
        )}
      </dl>
      <section class="grp">
        <h2>{words.about.licences}</h2>
        <p class="lead">{words.about.licencesText}</p>
      </section>
      <p class="note">
        <Icon name="lock-keyhole" />
        {words.about.storage}
      </p>
    </>
  )
}

function useServerVersion(): string | undefined {
  const [version, setVersion] = useState<string>()
  useEffect(() => {
    let isGone = false
    const ask = async () => {
      const response = await fetch('/health')
      const health: unknown = await response.json()
      if (!isGone && typeof health === 'object' && health !== null && 'version' in health) setVersion(String(health.version))
    }
    ask().catch(() => {})
    return () => {
      isGone = true
    }
  }, [])
  return version
}
