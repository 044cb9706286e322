import { Notification } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import type { IActivityFeed } from '../../feed/tokens';

import { WaitingNotice } from '../../panel/waitingNotice';
import { Words } from '../../panel/words';

class Feed {
  readonly changed = new Signal<this, void>(this);
  waiting = 0;

  become(waiting: number): void {
    this.waiting = waiting;
    this.changed.emit();
  }
}

let feed: Feed;
let notice: WaitingNotice;

beforeEach(() => {
  feed = new Feed();
  const trans = nullTranslator.load('jupyter_fstools');
  notice = new WaitingNotice(
    feed as unknown as IActivityFeed,
    () => undefined,
    () => undefined,
    new Words(trans),
    trans
  );
});

afterEach(() => notice.dispose());

const told = () => Notification.manager.notifications.map(one => one.message);

describe('the notice', () => {
  it('says how many wait, in one notice for all', () => {
    feed.become(1);
    feed.become(3);
    feed.become(2);
    expect(told()).toEqual(['2 decisions wait for you']);
  });

  it('goes once nothing waits', () => {
    feed.become(1);
    feed.become(0);
    expect(told()).toEqual([]);
  });

  it('stays away when the person has dismissed it, until more wait', () => {
    feed.become(3);
    Notification.dismiss();
    feed.become(2);
    expect(told()).toEqual([]);
    feed.become(3);
    expect(told()).toEqual(['3 decisions wait for you']);
  });

  it('stays away while the person sees what waits', () => {
    feed.become(1);
    notice.isSeen = true;
    expect(told()).toEqual([]);
    feed.become(2);
    expect(told()).toEqual([]);
    notice.isSeen = false;
    feed.become(3);
    expect(told()).toEqual(['3 decisions wait for you']);
  });

  it('is not given where it is not wanted', () => {
    notice.isWanted = false;
    feed.become(1);
    expect(told()).toEqual([]);
  });

  it('goes as soon as it is not wanted any more, and comes back once it is', () => {
    feed.become(1);
    notice.isWanted = false;
    expect(told()).toEqual([]);
    notice.isWanted = true;
    expect(told()).toEqual(['1 decision waits for you']);
    Notification.dismiss();
    notice.isWanted = true;
    expect(told()).toEqual([]);
  });
});
