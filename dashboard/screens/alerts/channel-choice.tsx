import type { JSX } from 'preact';
import { channelWord } from '../../alerts/words.ts';
import { type ChannelName, type ChannelState, channelNames } from '../../api/alert-types.ts';
import { t } from '../../i18n/i18n.ts';
import { ofService } from '../../i18n/refusals.ts';
import { useResource } from '../../state/resource.ts';
import { api, username } from '../../state/session.ts';
import { Icon } from '../../ui/icons.tsx';
import { TestMessage } from '../../ui/test-message.tsx';

/** What is set up for each way to send; forms wait for it, because it changes how wide they are. */
export function useChannels(): {
  readonly value: readonly ChannelState[] | undefined;
  readonly isKnown: boolean;
} {
  const { value, error } = useResource(`channels ${username.value}`, (signal) =>
    api.getJson<readonly ChannelState[]>({ path: '/users/me/channels', signal }),
  );
  return { value, isKnown: value !== undefined || error !== undefined };
}

/** By which ways messages go; says of each what is missing for it. */
export function ChannelChoice(props: {
  readonly chosen: readonly string[];
  /** Whether messages go to oneself too, so that one's own profile matters. */
  readonly isToMe: boolean;
  readonly onChosen: (channels: readonly string[]) => void;
}): JSX.Element {
  const { chosen, isToMe, onChosen } = props;
  const { value } = useChannels();
  const states = new Map(value?.map((state) => [state.channel, state]));
  const toggle = (channel: ChannelName): void =>
    onChosen(
      chosen.includes(channel) ? chosen.filter((one) => one !== channel) : [...chosen, channel],
    );
  const usable = channelNames.filter((name) => states.get(name)?.configured !== false);
  const hasNone = value !== undefined && usable.length === 0;
  return (
    <div class="stack-tight">
      <fieldset class="fieldset">
        <legend class="unseen">{t('alerts.channels')}</legend>
        <div class="chips">
          {channelNames.map((channel) => (
            <button
              key={channel}
              type="button"
              class="chip"
              aria-pressed={chosen.includes(channel)}
              onClick={() => toggle(channel)}
            >
              {chosen.includes(channel) && <Icon name="check" />}
              {channelWord(channel, t)}
              {states.get(channel)?.configured === false && (
                <span class="quiet small"> · {t('alerts.notSetUp')}</span>
              )}
            </button>
          ))}
        </div>
      </fieldset>
      {hasNone && <p class="note">{t('alerts.noChannels')}</p>}
      {channelNames
        .filter((channel) => chosen.includes(channel))
        .map((channel) => (
          <ChosenChannel
            key={channel}
            channel={channel}
            state={states.get(channel)}
            isToMe={isToMe}
          />
        ))}
    </div>
  );
}

/** What is missing for a channel that is chosen, and a message to try it with. */
function ChosenChannel({
  channel,
  state,
  isToMe,
}: {
  readonly channel: ChannelName;
  readonly state: ChannelState | undefined;
  readonly isToMe: boolean;
}): JSX.Element {
  const name = channelWord(channel, t);
  if (state?.configured === false) {
    return (
      <p class="small">
        {t('alerts.notSetUpText', { channel: name })}
        {state.reason !== undefined && <span class="quiet"> ({ofService(state.reason)})</span>}
      </p>
    );
  }
  return (
    <div class="stack-tight">
      {isToMe && state?.reachable === false && (
        <p class="small">
          {t(`alerts.reach-${channel}`)} <a href="/profile">{t('shell.profile')}</a>
        </p>
      )}
      {isToMe && state?.reachable === true && <TestMessage channel={channel} />}
    </div>
  );
}
