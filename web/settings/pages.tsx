import { useState } from 'preact/hooks'
import { lockChoice, stepUp } from '../core/lock.ts'
import {
  type Confirming,
  chooseConfirming,
  chooseLanguage,
  chooseQuietDays,
  chooseTheme,
  chosenLanguage,
  confirming,
  flip,
  isOn,
  quietChoices,
  quietDays,
  type SwitchName,
  type Theme,
  theme
} from '../core/preferences.ts'
import { KeyFileSheet } from '../keys/file-sheet.tsx'
import { KeyGroups } from '../keys/groups.tsx'
import { useIsShown, useKeyText } from '../keys/own-key.ts'
import { account, shouldCheckKey } from '../model/account/account.ts'
import { Banner, Problem } from '../ui/banner.tsx'
import { useBusy } from '../ui/behavior/busy.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Choice, ChoiceGroup, Switch, Switches } from '../ui/choice.tsx'
import { copySecret } from '../ui/copy.ts'
import { Icon } from '../ui/icons/icon.tsx'
import { joining } from '../words/joining.ts'
import { languageName, languageNames, tagOf } from '../words/language.ts'
import { lists } from '../words/lists.ts'
import { settings } from '../words/settings.ts'
import { date } from '../words/time.ts'

export function KeyPage() {
  const [wantsToSee, setWantsToSee] = useState(false)
  const [isRefused, setRefused] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const { isBusy, run } = useBusy()
  const key = useKeyText()
  const isShown = useIsShown()
  const here = account.value
  const isChecked = here.type === 'here' && here.keyCheckedAt !== undefined
  const surely = (then: () => void) =>
    run(async () => {
      const isSure = await stepUp()
      setRefused(!isSure)
      if (isSure) then()
    })
  const show = () => (wantsToSee ? setWantsToSee(false) : void surely(() => setWantsToSee(true)))
  return (
    <>
      <p class="lead">{settings.keySettings.lead}</p>
      <KeyStatus />
      {wantsToSee && <KeyGroups value={key} isShown={isShown} />}
      <div class="acts">
        <Button look="quiet" icon={wantsToSee ? 'eye-off' : 'eye'} onClick={show} busy={isBusy && settings.lockAsking}>
          {wantsToSee ? settings.keySettings.hide : settings.keySettings.show}
        </Button>
        {wantsToSee && (
          <Button look="quiet" icon="copy" onClick={() => key && void copySecret(key)}>
            {joining.key.copy}
          </Button>
        )}
        <Button look="quiet" icon="download" onClick={() => void surely(() => setSaving(true))}>
          {settings.keySave}
        </Button>
      </div>
      {isSaving && key && <KeyFileSheet value={key} onClose={() => setSaving(false)} />}
      {isRefused && <Problem title={settings.lockRefused} text={settings.lockRefusedText} />}
      {lockChoice.value === 'off' && (
        <p class="note">
          <Icon name="lock-keyhole" />
          {settings.keyHint}
        </p>
      )}
      <ButtonLink look="primary" href="/start/check" isWide>
        {isChecked ? settings.keySettings.checkAgain : settings.keySettings.check}
      </ButtonLink>
    </>
  )
}

/** Whether the person has confirmed that they have the key, and when they are asked next. */
function KeyStatus() {
  const here = account.value
  if (here.type !== 'here') return null
  if (here.keyCheckedAt !== undefined)
    return <Banner icon="circle-check" title={settings.keySafe} text={settings.page.keyChecked(date(here.keyCheckedAt))} />
  if (shouldCheckKey.value) return <Banner icon="hand" needs title={settings.keyDue} text={settings.keyDueText} />
  return <Banner icon="clock-3" title={settings.page.keyUnchecked} text={settings.keyNext(date(here.remindAt ?? Date.now()))} />
}

export function AppearancePage() {
  return (
    <>
      <ChoiceGroup id="theme-h" title={settings.appearance.theme}>
        {(['system', 'light', 'dark'] as const satisfies Theme[]).map(each => (
          <Choice
            key={each}
            name="theme"
            title={settings.appearance[each]}
            isChosen={theme.value === each}
            onChoose={() => chooseTheme(each)}
          />
        ))}
      </ChoiceGroup>
      <TextSize />
      <ChoiceGroup id="confirm-h" title={settings.appearance.confirm}>
        {(['hold', 'taps'] as const satisfies Confirming[]).map(each => (
          <Choice
            key={each}
            name="confirming"
            title={settings.appearance[each]}
            text={settings.appearance[`${each}Hint`]}
            isChosen={confirming.value === each}
            onChoose={() => chooseConfirming(each)}
          />
        ))}
      </ChoiceGroup>
      <Switches title={settings.reading}>
        <OwnSwitch name="wrap" />
        <OwnSwitch name="sideBySide" />
        <OwnSwitch name="compact" />
        <OwnSwitch name="announces" />
      </Switches>
      <Switches title={settings.writing}>
        <OwnSwitch name="enterSends" />
      </Switches>
      <Switches title={lists.keysHeading}>
        <Switch title={lists.singleKeys} text={lists.singleKeysHint} isOn={isOn('singleKeys')} onFlip={() => flip('singleKeys')} />
      </Switches>
      <ChoiceGroup id="quiet-h" title={lists.quietTitle}>
        {quietChoices.map(days => (
          <Choice
            key={days}
            name="quiet"
            title={days === 'never' ? lists.quietNever : lists.quietDays(days)}
            text={days === 'never' ? undefined : lists.quietHint}
            isChosen={quietDays.value === days}
            onChoose={() => chooseQuietDays(days)}
          />
        ))}
      </ChoiceGroup>
    </>
  )
}

/** Text size has no setting of its own: it follows that of the system or browser. */
function TextSize() {
  return (
    <section class="grp">
      <h2>{settings.textSize}</h2>
      <div class="card">
        <p>{settings.textSample}</p>
      </div>
      <p class="hint">{settings.textSizeHint}</p>
    </section>
  )
}

export function OwnSwitch({ name }: { name: Extract<SwitchName, keyof typeof settings> }) {
  return <Switch title={settings[name]} text={settings[`${name}Hint`]} isOn={isOn(name)} onFlip={() => flip(name)} />
}

export function LanguagePage() {
  const chosen = chosenLanguage()
  return (
    <section class="grp">
      <div class="card tight" role="radiogroup" aria-label={settings.language}>
        <Choice name="language" title={settings.asBrowser} isChosen={chosen === null} onChoose={() => chooseLanguage('system')} />
        {languageNames.map(each => (
          <Choice
            key={each}
            name="language"
            title={languageName(each)}
            lang={tagOf(each)}
            isChosen={chosen === each}
            onChoose={() => chooseLanguage(each)}
          />
        ))}
      </div>
      <p class="hint">{settings.languageHint}</p>
    </section>
  )
}
