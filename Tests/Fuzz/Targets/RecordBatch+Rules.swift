import HealthModel

extension RecordBatch {
    /// Columns of equal length, and indices that point into their dictionaries.
    func holdTogether() throws {
        for length in [start.count, end.count, value.count, unit.count, origin.count, created.count, flags.count] {
            try hold(length == count, "columns have different lengths")
        }
        try hold(line.count == count, "not every row has its line")
        try hold(healthKitUUID.isEmpty || healthKitUUID.count == count, "not every row has its UUID")
        try hold(type.allSatisfy { types.indices.contains(Int($0)) }, "a type isn't in its list")
        try hold(unit.allSatisfy { units.indices.contains(Int($0)) }, "a unit isn't in its list")
        try hold(origin.allSatisfy { origins.indices.contains(Int($0)) }, "an origin isn't in its list")
        try hold(value.allSatisfy { !$0.isInfinite }, "a value has no end")
        for column in [metadata, payload] {
            var last: Int32 = 0
            for end in column.ends {
                try hold(end >= last && Int(end) <= column.bytes.count, "a text isn't within its column")
                last = end
            }
            try hold(column.count == count, "not every row has its text")
            // The texts in both columns are JSON, as whatever reads them next expects.
            for row in 0..<column.count where !column.isEmpty(row) {
                let text = Array(column.bytes[column.range(row)])
                try hold((try? Value(json: text)) != nil, "a row's text isn't JSON")
            }
        }
    }
}
