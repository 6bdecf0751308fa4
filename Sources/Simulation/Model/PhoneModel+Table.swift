extension PhoneModel {
    /// All numbers, in the order of `Number`.
    package static let table: [Row] = person + watch + phone + delivery + otherWakes + willingness + runs

    private static func row(
        _ number: Number, _ meaning: String, _ value: Double, _ low: Double, _ high: Double, _ unit: String,
        _ source: String
    ) -> Row {
        Row(number: number, meaning: meaning, value: value, low: low, high: high, unit: unit, source: source)
    }

    private static let person: [Row] = [
        row(
            .pickupsPerDay, "the phone is unlocked", 80, 40, 150, "times a day",
            "Apple's figure of April 2016: theverge.com/2016/4/18/11454976"),
        row(.pickupMinutes, "a pickup lasts", 2.5, 1, 5, "min", "estimate: some 3 h of screen a day"),
        row(
            .quietSpellsPerDay, "hours without the phone: a meeting, a film", 1, 0, 3, "a day",
            "estimate: one on a working day"),
        row(.quietSpellHours, "such a time lasts", 1.5, 0.5, 3, "h", "estimate: a meeting, a film"),
        row(.wakesUpAtHour, "the person gets up", 7, 6, 9, "o'clock", "estimate: a working day"),
        row(.fallsAsleepAtHour, "the person falls asleep", 22.75, 21.5, 23.2, "o'clock", "estimate: a working day"),
        row(
            .weeklyOpens, "the app is opened, with --use weekly", 0.143, 0.07, 0.3, "times a day",
            "definition: once a week"),
        row(
            .dailyOpens, "the app is opened, with --use daily", 2, 1, 4, "times a day",
            "estimate: in the morning and at night"),
        row(
            .oftenOpens, "the app is opened, with --use often", 12, 6, 24, "times a day",
            "estimate: every seventh pickup"),
        row(
            .usualOpens, "openings at the person's usual times", 0.7, 0, 1, "share",
            "estimate: a habit; the others are at any pickup"),
        row(.openSeconds, "the app stays on the screen", 60, 20, 180, "s", "estimate: a look at the day's figures"),
        row(
            .forceQuitAfterUse, "the app is swiped away after use", 0.05, 0, 0.2, "share",
            "estimate: some people tidy up"),
        row(
            .notificationsPerDay, "the app posts notifications", 3, 1, 8, "a day",
            "estimate: more get switched off"),
        row(
            .notificationOpens, "a notification is opened", 0.142, 0.02, 0.5, "share",
            "health and fitness on iOS: contentbase.com/blog/push-notification-industry-benchmarks"),
        row(.workoutsPerDay, "workouts", 0.45, 0.1, 1, "a day", "estimate: three a week"),
        row(.focusHoursPerDay, "a Focus at work", 2, 0, 8, "h a day", "estimate: most people use none"),
    ]

    private static let watch: [Row] = [
        row(
            .watchDayMinutes, "the Watch hands over by day, every", 12, 4, 30, "min",
            "estimate: bursts of minutes; slower when idle or apart, says intercom.help/coachrx (sync delays)"),
        row(
            .watchNightMinutes, "the Watch hands over at night, every", 60, 20, 120, "min",
            "estimate: sync comes last while the phone is idle, says intercom.help/coachrx (sync delays)"),
        row(
            .watchAfterPickup, "the Watch hands over right after a pickup", 0.3, 0, 0.8, "share",
            "estimate: both are active then, as intercom.help/coachrx (sync delays) reports"),
        row(
            .watchAfterWorkoutMinutes, "the Watch hands over after a workout, within", 2, 0.5, 10, "min",
            "estimate: a workout is saved and handed over whole at its end"),
        row(
            .watchApartDays, "days with Watch and phone apart", 0.2, 0, 0.5, "share",
            "estimate: a run, the phone at home"),
        row(.watchApartHours, "Watch and phone are apart for", 4, 1, 9, "h", "estimate: a trip or a workday"),
        row(
            .heartRateMinutes, "the heart rate is measured every", 5, 3, 10, "min",
            "3 to 7 min: help.cardiogram.com/article/97"),
        row(
            .workoutSampleSeconds, "in a workout it is measured every", 5, 2.5, 10, "s",
            "help.cardiogram.com/article/97"),
    ]

    private static let phone: [Row] = [
        row(
            .readableAfterLockMinutes, "health data stays readable after the lock", 10, 0, 10, "min",
            "Apple Platform Security: support.apple.com/guide/security/sec88be9900f/web;"
                + " the field's reports and validic.atlassian.net have observers stop with the lock. Apple's was chosen"
        ),
        row(
            .batteryPerHour, "the battery loses", 0.05, 0.03, 0.08, "share an hour",
            "estimate: full in the morning, a fifth at night"),
        row(
            .lowPowerBelow, "Low Power Mode is offered below", 0.2, 0.1, 0.3, "share",
            "asked at 20 %, off again at 80 %: futurgad.com (Low Power Mode)"),
        row(.lowPowerAccepted, "Low Power Mode is accepted", 0.5, 0, 1, "share", "estimate: half of the time"),
        row(.chargesAtNight, "nights on the charger", 0.95, 0.7, 1, "share", "estimate: a habit, with lapses"),
        row(
            .plugsInBeforeSleepMinutes, "plugged in before sleep, by", 15, 5, 45, "min",
            "estimate: a last look in bed"),
        row(.chargesByDay, "days with an hour on a charger", 0.3, 0, 0.8, "share", "estimate: car, desk"),
        row(.hotHoursPerDay, "heat or load", 0.7, 0, 3, "h a day", "estimate: navigation, games, calls, sun"),
        row(
            .terminationsPerDay, "the system ends the app", 2, 0.5, 6, "times a day",
            "estimate: suspended apps go first when memory is short"),
        row(
            .rebootsPerDay, "the phone starts again", 0.05, 0.01, 0.3, "times a day",
            "estimate: updates, an empty battery"),
        row(.flightsPerDay, "hours offline, as in flights", 0.03, 0, 0.1, "a day", "estimate: one a month"),
        row(.networkGapsPerDay, "gaps in the network", 2, 0, 6, "a day", "estimate: underground, cellar, lift"),
        row(.networkGapMinutes, "a gap in the network lasts", 20, 5, 60, "min", "estimate: a ride on the underground"),
    ]

    private static let delivery: [Row] = [
        row(
            .deliveriesPerDay, "background deliveries, from a willing system", 4, 1, 12, "a day",
            "one to four a day: the field's reports; about every hour: validic.atlassian.net; less than a dozen:"
                + " producthunt.com/@yarri; at most one per period, with no least: developer.apple.com,"
                + " enableBackgroundDelivery. The fewest were chosen"),
        row(
            .deliveryBurst, "wakes of a kind that may be saved up", 1.5, 1, 4, "wakes",
            "estimate: a budget refills, and a quiet night doesn't pay for a busy morning"),
        row(
            .deliverySpacingMinutes, "types share a wake; the next comes after", 60, 10, 120, "min",
            "developer.apple.com, enableBackgroundDelivery: steps hourly; docs.spikeapi.com: most types"),
        row(
            .deliveryDelayLowMinutes, "from a change to its wake, at least", 1, 0.1, 5, "min",
            "estimate: \"immediate\" is soon, not at once: w3toppers.com (background delivery)"),
        row(
            .deliveryDelayHighMinutes, "from a change to its wake, at most", 60, 15, 120, "min",
            "one minute to an hour: the field's reports"),
        row(
            .terminatedDelayHighMinutes, "the same after the system ended the app", 240, 60, 480, "min",
            "up to four hours: the field's reports"),
        row(
            .immediateDelayHighMinutes, "the same for a workout", 10, 1, 60, "min",
            "estimate: workouts are immediate: w3toppers.com (background delivery); the field's reports say within an hour"
        ),
        row(
            .immediateInAdvance, "wakes that workouts may take in advance", 1, 0, 4, "wakes",
            "estimate: they come once a day, and aren't what a budget is meant to slow down"),
        row(
            .strikesUntilStopped, "delivery stops once it wasn't completed", 3, 1, 6, "times in a row",
            "developer.apple.com, HKObserverQueryCompletionHandler: after three; the field's reports also say that the"
                + " app is terminated. Both were chosen. What resumes it isn't said, so here nothing does"),
        row(
            .strikeBackOffMinutes, "after the first of these it is tried again in", 15, 1, 120, "min, doubling",
            "estimate: the same page says that it backs off, not how"),
    ]

    private static let otherWakes: [Row] = [
        row(
            .refreshesPerDay, "app refreshes, from a willing system", 2, 0.5, 12, "a day",
            "none to three a day: the field's reports; delayed by hours or not at all:"
                + " developer.apple.com/forums/thread/823699. The middle of the former was chosen"),
        row(
            .refreshEarliestMinutes, "the app asks for a refresh after", 60, 15, 240, "min",
            "definition: the debouncer's refreshMinutes"),
        row(
            .refreshAfterUseMinutes, "a refresh comes if the phone was used within", 30, 10, 120, "min",
            "hours of use: WWDC 2020, session 10063, Background execution demystified"),
        row(
            .refreshChance, "a refresh that may come does, in five minutes", 0.15, 0.05, 1, "probability",
            "estimate: spread over an hour"),
        row(
            .processingPerDay, "processing tasks, from a willing system", 1, 0.3, 3, "a day",
            "at most one a day: the field's reports; within two days at best: docs.rs/objc2-background-tasks,"
                + " BGProcessingTaskRequest. The former was chosen"),
        row(
            .processingEarliestHours, "the app asks for processing after", 4, 1, 24, "h",
            "definition: the debouncer's catchUpHours"),
        row(
            .processingIdleMinutes, "processing comes once the phone is unused for", 15, 3, 60, "min",
            "only when idle: developer.apple.com, BGProcessingTask; the time: developer.apple.com/forums/thread/119758"),
        row(
            .processingChance, "on power, processing that may run does, in five minutes", 0.7, 0.05, 1, "probability",
            "estimate: the field's reports have it run mostly on power"),
        row(
            .processingBatteryChance, "on battery, processing that may run does, in five minutes", 0.01, 0, 0.2,
            "probability",
            "estimate: power isn't required (the field's reports; developer.apple.com,"
                + " requiresExternalPower), but preferred"),
        row(
            .processingAfterUseDays, "processing needs an app opened within", 7, 2, 14, "days",
            "docs.rs/objc2-background-tasks, BGProcessingTaskRequest: the past week"),
        row(
            .pushesPerHour, "silent pushes that the backend sends", 2, 1, 3, "an hour",
            "two: the field's reports; two or three: developer.apple.com, Pushing background updates to your App. The fewest"
                + " were chosen"),
        row(
            .pushesPerDay, "silent pushes, from a willing system", 2, 0.5, 16, "a day",
            "estimate: the field's reports trust pushes less than background delivery. A budget for all apps, refilled"
                + " each day: developer.apple.com/forums/thread/776933"),
        row(
            .pushPasses, "a push arrives", 0.7, 0.3, 1, "probability",
            "estimate: delivery isn't guaranteed, says the same page"),
        row(
            .pushIdleMinutes, "a push is held once the phone is unused for", 30, 5, 120, "min",
            "branch.io/glossary/background-push-notification; the time is an estimate"),
        row(
            .pushAfterUseDays, "a push is dropped unless the app was opened within", 3, 1, 14, "days",
            "not delivered to an app that wasn't launched for a while: developer.apple.com/forums/thread/776933;"
                + " how long is an estimate"),
    ]

    private static let willingness: [Row] = [
        row(
            .unusedShare, "an app that is never opened keeps", 0.3, 0.05, 0.7, "share",
            "use counts: WWDC 2020, session 10063; the share is an estimate"),
        row(
            .fullUsePerDay, "nothing is held back from an app opened", 2, 1, 6, "times a day",
            "estimate: an app in daily use"),
        row(.useHalfLifeDays, "use is forgotten by half in", 3, 1, 10, "days", "estimate: habits of a week count"),
        row(.lowBatteryBelow, "the battery is low below", 0.2, 0.1, 0.3, "share", "WWDC 2020, session 10063"),
        row(.easyBatteryAbove, "the battery is no concern above", 0.5, 0.3, 0.8, "share", "estimate: half full"),
        row(
            .lowBatteryShare, "a low battery leaves", 0.2, 0, 0.6, "share",
            "WWDC 2020, session 10063: little or nothing"),
        row(
            .lowPowerShare, "Low Power Mode leaves background delivery", 0.3, 0, 0.8,
            "share", "background app refresh is off: support.apple.com/101604; the share is an estimate"),
        row(.focusShare, "a Focus leaves", 0.7, 0.3, 1, "share", "estimate: Sleep counts, others hardly"),
        row(
            .loadShare, "full heat or load leaves", 0.3, 0, 0.8, "share",
            "estimate: background work stops at a serious thermal state"),
        row(
            .offlineShare, "no network leaves background delivery", 0.5, 0.1, 1, "share",
            "estimate: health data is on the phone"),
        row(.chargingShare, "power gives", 1.3, 1, 2, "times", "estimate: no battery to spare"),
    ]

    private static let runs: [Row] = [
        row(
            .deliverySeconds, "a background delivery ends after", 15, 5, 30, "s",
            "15 s, or a few seconds: the field's reports; Apple doesn't say. The number was chosen"),
        row(
            .refreshSeconds, "an app refresh ends after", 30, 15, 30, "s",
            "WWDC 2019, session 707: mackuba.eu/notes/wwdc19/advances-in-background-execution"),
        row(
            .pushSeconds, "a silent push ends after", 30, 15, 30, "s",
            "developer.apple.com, Pushing background updates to your App"),
        row(
            .processingSeconds, "a processing task ends after", 600, 60, 600, "s",
            "up to 10 min, or 30 s: the field's reports; minutes: developer.apple.com, BGProcessingTask, so the former was"
                + " chosen"),
        row(
            .usualSeconds, "an ideal app's run takes", 4, 1, 10, "s",
            "estimate: used only where the stages aren't run"),
    ]
}
