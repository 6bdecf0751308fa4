import HealthModel

extension DeliveryGroup {
    /// The list in which a destination keeps the group's elements.
    package var heldList: HeldList {
        switch content {
        case .samples: .samples
        case .workouts: .workouts
        case .nights: .nights
        case .days: .days
        }
    }

    func key(_ row: Int, user: Int) -> ElementKey {
        switch content {
        case .samples(let page): ElementKey(user: user, list: .samples, id: page.ids[row], text: "")
        case .workouts(let all), .nights(let all), .days(let all):
            ElementKey(user: user, list: heldList, id: SampleID(all[row].id), text: all[row].id)
        }
    }

    /// A sample's type.
    func type(_ row: Int) -> String? {
        guard case .samples(let page) = content else { return nil }
        return page.types[Int(page.type[row])]
    }

    func sequence(_ row: Int) -> SequenceNumber {
        switch content {
        case .samples(let page): SequenceNumber(page.sequence[row])
        case .workouts(let all), .nights(let all), .days(let all): SequenceNumber(all[row].version)
        }
    }

    /// The day that a document belongs to; nil for a sample, and if it isn't known.
    func day(_ row: Int) -> LocalDay? {
        switch content {
        case .samples: nil
        case .workouts(let all), .nights(let all), .days(let all): all[row].day.map { LocalDay(number: $0) }
        }
    }

    /// The usual `ContentOf`: for destinations that keep elements as JSON or in columns of their own.
    package static let contentNumbers: ContentOf = { group in
        switch group.content {
        case .samples(let page):
            let types = page.types.map { ContentNumber.text($0) }
            let sources = page.origins.map { ContentNumber.text($0.sourceName) }
            return (0..<page.count).map { row in
                ContentNumber.sample(
                    type: types[Int(page.type[row])], start: page.startOf(row), end: page.endOf(row),
                    value: page.value[row], source: sources[Int(page.origin[row])])
            }
        case .workouts(let all), .nights(let all), .days(let all):
            return try all.map { document in
                try document.body.flatMap { DeliveryDocument.versioned($0, document.version) }.map {
                    try ContentNumber.document(json: $0.json().utf8)
                }
            }
        }
    }
}
