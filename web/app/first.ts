import { startLock } from '../core/lock.ts'
import { chosenLanguage, startPreferences } from '../core/preferences.ts'
import { languageFor } from '../words/language.ts'
import { loadLanguage } from '../words/translations.ts'

// The lock and the language come before anything is drawn. The browser preloads the rest meanwhile.
startPreferences()
startLock()
void loadLanguage(languageFor(chosenLanguage(), navigator.languages), document).then(() => import('./main.tsx'))
