import { startLock } from '../core/lock.ts'
import { chosenLanguage, startPreferences } from '../core/preferences.ts'
import { languageFor } from '../words/language.ts'
import { loadLanguage } from '../words/translations.ts'

// The lock and the language come before everything that is drawn in it. The page has the browser fetch the rest meanwhile.
startPreferences()
startLock()
void loadLanguage(languageFor(chosenLanguage(), navigator.languages), document).then(() => import('./main.tsx'))
