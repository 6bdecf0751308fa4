import DeliveryKit
import Foundation
import Terminal

extension VerifyReport {
    /// What was compared, how many elements are wrong and in which way, and what to do.
    package func text(for terminal: Terminal) -> String {
        if let files { return text(of: files) }
        var text = ""
        if let repaired { text += "Delivered \(Self.elements(repaired)) again, and compared once more.\n" }
        for user in users {
            // The lists' names are plurals.
            let held = Self.lists.filter { uncompared[$0] == nil }.map {
                HumanFormat.count(user.lists[$0]?.here ?? 0, String($0.dropLast()))
            }
            text += "\(user.name): \(held.joined(separator: ", ")) delivered to \(address)\n"
        }
        let table = table()
        if !table.rows.isEmpty { text += "\n" + table.render(for: terminal) + "\n" }
        let quarantined = users.reduce(0) { $0 + $1.quarantined }
        if quarantined > 0 {
            text += "\(HumanFormat.count(quarantined)) quarantined here are kept, but not delivered.\n"
        }
        let off = count(.off)
        if off > 0 {
            let verb = off == 1 ? "isn't" : "aren't"
            text +=
                "\(HumanFormat.count(off)) from before 'deliverSince', or of types that are switched off or not chosen, \(verb) delivered.\n"
        }
        for (names, lists) in Dictionary(grouping: uncompared.keys.sorted(), by: { uncompared[$0] ?? [] })
            .sorted(by: { $0.value.joined() < $1.value.joined() })
        {
            let verb = names.count == 1 ? "isn't" : "aren't"
            text +=
                "Not compared: \(lists.joined(separator: ", ")), since \(names.map { "'\($0)'" }.joined(separator: ", ")) \(verb) responding.\n"
        }
        let verdict = Self.verdict(
            isWhole: uncompared.isEmpty, word: word, holdsDelivered: wrong == 0, deadLetters: count(.deadLetter),
            dropped: count(.dropped),
            pending: count(.pending), comparesContents: comparesContents)
        text += "\(verdict) (\(HumanFormat.duration(.seconds(seconds)))).\n"
        return text + advice.map { "- \($0)\n" }.joined()
    }

    private func text(of files: Files) -> String {
        var text = ""
        for kind in Files.kinds {
            guard let count = files.counts[kind], count > 0 else { continue }
            text +=
                "\(HumanFormat.count(count, "file")) \(kind): \(files.first[kind, default: []].joined(separator: ", "))"
                + (count > files.first[kind, default: []].count ? ", …" : "") + "\n"
        }
        if files.pending > 0 {
            text +=
                "\(HumanFormat.count(files.pending, "file")) still to be written: 'healthbus sync' waits for that.\n"
        }
        let repaired = repaired ?? 0
        if repaired > 0 { text += "Wrote \(HumanFormat.count(repaired, "file")) again.\n" }
        let verdict =
            isRight ? "\(address) holds what the stack holds" : "\(address) doesn't hold what the stack holds"
        text +=
            "\(verdict): \(HumanFormat.count(files.compared, "file")) compared (\(HumanFormat.duration(.seconds(seconds)))).\n"
        return isRight
            ? text : text + "- 'healthbus verify --destination \(destination) --repair' writes them again.\n"
    }

    /// The overall verdict, without its full stop. Pure.
    package static func verdict(
        isWhole: Bool = true, word: String = "backend", holdsDelivered: Bool, deadLetters: Int, dropped: Int = 0,
        pending: Int,
        comparesContents: Bool = true
    ) -> String {
        guard holdsDelivered else { return "The \(word) doesn't hold what it should" }
        guard isWhole else { return "Not everything could be compared" }
        var rest: [String] = []
        if deadLetters > 0 {
            rest.append("\(HumanFormat.count(deadLetters)) \(deadLetters == 1 ? "is" : "are") in dead letters")
        }
        if dropped > 0 {
            rest.append("\(HumanFormat.count(dropped)) \(dropped == 1 ? "was" : "were") dropped on purpose")
        }
        if pending > 0 {
            rest.append("\(HumanFormat.count(pending)) \(pending == 1 ? "isn't" : "aren't") delivered yet")
        }
        let how = comparesContents ? "with the values and times held here" : "in the version held here"
        let verdict =
            rest.isEmpty
            ? "The \(word) holds all of it, once and \(how)"
            : "The \(word) holds everything delivered; \(rest.joined(separator: ", "))"
        return verdict + (comparesContents ? "" : "; it doesn't report contents, so they weren't compared")
    }

    private static func elements(_ count: Int) -> String {
        "\(HumanFormat.count(count)) element\(count == 1 ? "" : "s")"
    }

    private func table() -> Table {
        var table = Table([
            .init("User"), .init("List"), .init("Type"), .init("What"), .number("Count"), .init("First", givesWay: 1),
        ])
        func add(_ user: User, _ name: String, _ type: String, _ list: List, _ findings: some Sequence<VerifyFinding>) {
            for finding in findings {
                guard let count = list.counts[finding], count > 0 else { continue }
                let isCut = finding == .doubled && list.isDoubledCut
                table.add([
                    user.name, name, type, finding.text, (isCut ? "≥ " : "") + HumanFormat.count(count),
                    (list.first[finding] ?? []).prefix(3).joined(separator: ", "),
                ])
            }
        }
        for user in users {
            for name in Self.lists {
                guard let list = user.lists[name] else { continue }
                for (type, part) in list.types.sorted(by: { $0.key < $1.key }) {
                    add(user, name, HealthTypeText.short(type), part, VerifyFinding.allCases)
                }
                // This stack doesn't know the type of an element that only the backend has.
                add(user, name, "", list, name == "samples" ? [.doubled, .beyond] : VerifyFinding.allCases)
            }
        }
        return table
    }

    /// What to do about each kind of finding.
    var advice: [String] {
        var advice: [String] = []
        if !uncompared.isEmpty {
            advice.append("'healthbus doctor' says what to do about what isn't responding; then verify again.")
        }
        if repairable > 0 {
            advice.append(
                "'healthbus verify --destination \(destination) --repair' delivers \(Self.elements(repairable)) again.")
        }
        if count(.deletedLater) > 0 {
            advice.append(
                "Samples and workouts deleted there stay deleted: the \(word) knows a deletion that this store doesn't, from before a backup was restored or a store was lost. Import the newest export, which lacks them too, or find out who deletes there."
            )
        }
        if count(.newer) + count(.altered) > 0 {
            advice.append(
                "Elements newer or altered there were changed there, or written by another stack for the same person; --repair replaces them by those held here. If they return, stop the other."
            )
        }
        if count(.doubled) > 0 {
            advice.append(
                "Elements doubled there came from elsewhere under other ids, and can't be deleted from here: delete them at the \(word), by id; docs/backend.md says how at a backend."
            )
        }
        if count(.deadLetter) > 0 {
            advice.append("'healthbus dead-letters list' says why the \(word) refused the dead letters.")
        }
        if count(.dropped) > 0 {
            advice.append(
                "Dropped elements aren't missed: a person gave them up, and they are sent only if they change. 'healthbus replay \(destination) --from DATE --to DATE' sends a day again."
            )
        }
        if count(.pending) > 0 {
            advice.append("'healthbus sync' delivers what is waiting, or says why it can't.")
        }
        if count(.beyond) > 0 {
            advice.append(
                "Elements that only the \(word) has aren't a fault: losing a store never deletes samples there.")
        }
        return advice
    }
}

private enum HealthTypeText {
    /// "StepCount" for "HKQuantityTypeIdentifierStepCount".
    static func short(_ type: String) -> String {
        guard let range = type.range(of: "Identifier"), range.upperBound < type.endIndex else { return type }
        return String(type[range.upperBound...])
    }
}
