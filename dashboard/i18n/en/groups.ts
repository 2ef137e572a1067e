/** Groups of people to share with. */
export const groups = {
  title: 'Groups',
  one: 'Group',
  text:
    'People under one name, such as a class. What you share with a group is shared with ' +
    'everybody in it, and ends for those who leave.',
  none: 'You have no groups yet',
  add: 'New group',
  name: 'Name of the group',
  nameMissing: 'Give the group a name.',
  people: 'Usernames',
  peopleHint: 'One per line, or separated by commas. You can paste a list.',
  members: { one: '{count} person', other: '{count} people' },
  all: 'All groups',
  who: 'Who is in it',
  nobody: 'Nobody is in it yet.',
  addPeople: 'Add to the group',
  remove: 'Remove',
  removed: '{name} is no longer in the group',
  added: { one: '{count} person added', other: '{count} people added' },
  back: '{name} is in the group again',
  shared: 'What is shared with it',
  sharedNone: 'Nothing yet. Open a device or project, tap Share, and choose this group.',
  rename: 'Rename',
  renamed: 'The group is called {name} now',
  delete: 'Delete this group',
  deleteText:
    '{name} is deleted, and what was shared with it is shared no longer. The accounts ' + 'stay.',
  deleted: 'Group deleted',
  unknown: 'Nobody has these usernames: {names}. Nothing was changed.',
} as const;
