// The page's own words. A language is one file in words/: add it to LANGUAGES, and that is all.

const LANGUAGES = { en: 'English', de: 'Deutsch' };
const wanted = [localStorage.getItem('language'), ...navigator.languages].map((name) => name?.split('-')[0]);

export const language = wanted.find((name) => name in LANGUAGES) ?? 'en';
/** For numbers and dates: the browser's own region where its language is the page's. */
export const locale = navigator.languages.find((name) => name.split('-')[0] === language) ?? language;
export const languages = Object.entries(LANGUAGES);

const { words } = await import(`./words/${language}.js`);
const plural = new Intl.PluralRules(locale);

/** A word or a sentence, with {parts}; of several forms that which `count` needs. Without one: undefined. */
export function word(key, parts = {}) {
  let text = words[key];
  if (typeof text === 'object') text = text[plural.select(parts.count)] ?? text.other;
  return text?.replace(/\{(\w+)\}/g, (_, name) => parts[name] ?? '');
}

export const t = (key, parts) => word(key, parts) ?? key;
