import HealthModel
import HealthStatistics
import Inspection
import Terminal

extension CheckReport {
    /// The number of rows of a list that are shown on a screen; a pipe gets all of them.
    private static let rowsOnScreen = 25

    /// Tables for people, and the verdict.
    package func text(for terminal: Terminal) -> String {
        let verdict = Self.verdict(
            rings, quarantined: quarantined.reduce(0) { $0 + $1.count }, user: options.user)
        return [
            ringText(terminal), completenessText(terminal), workoutText(terminal), revisedText(terminal),
            quarantineText(terminal),
        ].joined(separator: "\n") + documentText(terminal) + "\n"
            + terminal.styled(verdict, .bold) + "\n"
    }

    /// One line that says whether the figures agree with Apple's, and what to do if they don't. Pure.
    package static func verdict(_ rings: RingComparison, quarantined: Int64, user: String = "me") -> String {
        var text: String
        if let first = rings.differences.first {
            let count = HumanFormat.count(rings.differences.count, "figure")
            let verb = rings.differences.count == 1 ? "differs" : "differ"
            let whose = user == "me" ? "" : " --user \(user)"
            text =
                "\(count) of \(HumanFormat.count(rings.differingDays, "day")) \(verb) from Apple's; "
                + "'healthbus explain \(first.figure) \(first.date)\(whose)' shows what counted, and --tolerance allows more."
        } else if rings.compared > 0 {
            text = "Everything that can be compared agrees with Apple's rings."
        } else {
            text = "Nothing can be compared with Apple's rings; only an export from the iPhone has them."
        }
        if quarantined > 0 {
            text += " \(HumanFormat.count(Int(quarantined))) quarantined: 'healthbus quarantine list' says why."
        }
        return text
    }

    /// Empty if there are none.
    private func documentText(_ terminal: Terminal) -> String {
        guard !documents.isEmpty else { return "" }
        let counts = documents.sorted { $0.key.rawValue < $1.key.rawValue }.map { kind, count in
            switch kind {
            case .clinicalRecord: HumanFormat.count(count, "clinical record")
            case .electrocardiogram: HumanFormat.count(count, "ECG")
            case .attachment: HumanFormat.count(count, "attachment")
            }
        }
        return "\n" + terminal.styled("Documents", .bold) + "\n" + counts.joined(separator: ", ")
            + ", listed by 'healthbus documents'.\n"
    }

    private func cut(_ table: Table, for terminal: Terminal) -> String {
        ExplainTable(table: table, rowsOnScreen: Self.rowsOnScreen, footer: nil).render(
            for: terminal, all: false, how: "a pipe or --json gets all")
    }

    private func ringText(_ terminal: Terminal) -> String {
        let count = { (number: Int) in HumanFormat.count(number) }
        let allowed =
            "\(ShownNumber.short(options.tolerance.absolute)) kcal or min, or "
            + "\(ShownNumber.short(options.tolerance.relative * 100)) %"
        let title = terminal.styled("Rings: our figures against Apple's ActivitySummary", .bold) + "\n"
        guard summaries > 0 else {
            return title + "There is no ActivitySummary to compare with. "
                + (rings.onlyOurs.count == 1
                    ? "1 day has figures of ours.\n" : "\(count(rings.onlyOurs.count)) days have figures of ours.\n")
        }
        var text = title
        if rings.compared == 0 {
            text += "No day can be compared.\n"
        } else {
            text +=
                "\(HumanFormat.count(rings.compared, "day")) compared: \(count(rings.equal)) equal, "
                + "\(count(rings.differingDays)) \(rings.differingDays == 1 ? "differs" : "differ") by more than \(allowed).\n"
        }
        if rings.byFigure.values.contains(where: { $0.onlyApples + $0.onlyOurs > 0 }) {
            text +=
                "Figures on one side only aren't compared. Days with nothing to compare: \(count(rings.onlyApples.count)) of Apple's "
                + "(the samples behind the rings aren't in the store),\n\(count(rings.onlyOurs.count)) of ours (no summary, or not "
                + "those rings).\n"
        }
        guard !rings.byFigure.isEmpty else { return text }
        var byFigure = Table([
            .init("Figure"), .number("Compared"), .number("Differ"), .number("At most by"), .number("Only Apple's"),
            .number("Only ours"),
        ])
        for name in RingComparison.figures {
            guard let tally = rings.byFigure[name] else { continue }
            byFigure.add([
                name, count(tally.compared), count(tally.differing),
                tally.differing > 0 ? ShownNumber.short(tally.largest) : "", count(tally.onlyApples),
                count(tally.onlyOurs),
            ])
        }
        text += byFigure.render(for: terminal)
        guard !rings.differences.isEmpty else { return text }
        var days = Table([
            .init("Date"), .init("Figure"), .number("Ours"), .number("Apple's"), .number("Difference"), .init("Unit"),
        ])
        for found in rings.differences {
            days.add([
                found.date.description, found.figure, ShownNumber.short(found.ours),
                ShownNumber.short(found.apples),
                ShownNumber.short(found.difference), found.unit,
            ])
        }
        return text + "\n" + cut(days, for: terminal)
    }

    private func completenessText(_ terminal: Terminal) -> String {
        let title =
            terminal.styled("Completeness", .bold)
            + "\nOnly types that usually come daily have gaps: the median distance of their days is 1. A stretch of more than ten\n"
            + "years isn't a gap.\n"
            + "Late: stored in HealthKit more than a day after the sample had ended.\n"
        guard !types.isEmpty else { return title + "no samples\n" }
        var table = Table([
            .init("Type"), .init("First day"), .init("Last day"), .number("Days"), .number("Every", givesWay: 3),
            .number("Missing"), .init("Longest gap", givesWay: 4), .number("Late", givesWay: 5),
            .number("At most", givesWay: 2),
        ])
        var alone: [LocalDay: [String]] = [:]
        for type in types {
            let days = type.days
            if let day = days.lastBeforeStretch { alone[day, default: []].append(TypeName.bare(type.type)) }
            let late = type.late(from: options.from, to: options.to)
            let missing = days.gaps.reduce(0) { $0 + $1.count }
            table.add([
                TypeName.bare(type.type), days.first?.description ?? "", days.last?.description ?? "",
                HumanFormat.count(days.count),
                days.medianDistance.map { $0 == 1 ? "day" : HumanFormat.count($0, "day") } ?? "",
                days.isUsuallyDaily ? HumanFormat.count(missing) : "",
                days.isUsuallyDaily ? days.longestGap.map { DayRuns.text(of: $0) } ?? "none" : "",
                late.count > 0 ? HumanFormat.count(Int(late.count)) : "",
                late.count > 0 ? HumanFormat.duration(.seconds(late.longest)) : "",
            ])
        }
        return title + table.render(for: terminal)
            + alone.sorted { $0.key < $1.key }.map { day, types in
                "More than ten years without follow \(day): is that date right? (\(types.joined(separator: ", ")))\n"
            }.joined() + types.compactMap { type in overlaps(of: type).map { $0.text(type.type) + "\n" } }.joined()
    }

    private func workoutText(_ terminal: Terminal) -> String {
        let title =
            terminal.styled("Workouts written several times by their source", .bold)
            + "\nThe same source, start and activity.\n"
        guard !repeats.bySource.isEmpty else { return title + "none\n" }
        let all = repeats.all
        var text =
            title
            + "Of \(HumanFormat.count(all.workouts, "workout")) \(HumanFormat.count(all.distinct)) \(all.distinct == 1 ? "is" : "are") distinct. "
        text +=
            dropsRepeats
            ? "Only the newest of each counts.\n"
            : "All of them count; with \"newestOfRepeats\": true in the configuration of workouts, only the newest of each does.\n"
        var sources = Table([.init("Source"), .number("Workouts"), .number("Distinct")])
        for (source, found) in repeats.bySource.sorted(by: { $0.key < $1.key }) {
            sources.add([source, HumanFormat.count(found.workouts), HumanFormat.count(found.distinct)])
        }
        var days = Table([.init("Date"), .number("Workouts"), .number("Distinct")])
        for (day, found) in repeats.byDay.sorted(by: { $0.key < $1.key }) {
            days.add([day.description, HumanFormat.count(found.workouts), HumanFormat.count(found.distinct)])
        }
        text += sources.render(for: terminal) + "\n" + cut(days, for: terminal)
        guard !repeats.versions.isEmpty else { return text }
        var versions = Table([.init("Date"), .init("Source"), .init("Activity"), .init("Start"), .init("Ends")])
        for found in repeats.versions {
            let clock = DayClock(zones, found.day).shown(on: terminal)
            versions.add([
                found.day.description, found.source, found.activity, clock.time(found.start),
                found.ends.map { clock.time($0) }.joined(separator: ", "),
            ])
        }
        return text
            + "\nThese end at different times, and may be versions of one workout that was edited. None replaced another: an\n"
            + "export had them together, one has HealthKit's UUID, or no newer export shows which one stayed.\n"
            + cut(versions, for: terminal)
    }

    private func revisedText(_ terminal: Terminal) -> String {
        let title = terminal.styled("Changed after they were final", .bold) + "\n"
        guard !revised.isEmpty else { return title + "no day\n" }
        var table = Table([.init("Date"), .number("Revision")])
        for day in revised { table.add([day.date.description, "\(day.revision)"]) }
        return title + cut(table, for: terminal)
    }

    private func quarantineText(_ terminal: Terminal) -> String {
        let title = terminal.styled("Quarantined", .bold) + "\n"
        guard !quarantined.isEmpty else { return title + "nothing\n" }
        var table = Table([.number("Count"), .init("Reason")])
        for entry in quarantined { table.add([HumanFormat.count(Int(entry.count)), entry.reason]) }
        return title + table.render(for: terminal)
    }
}
