import HealthModel
import JSON

extension AutoExportReader {
    /// An ECG is drawn to a scale of millimetres per millivolt, so a nanovolt is finer than any drawing shows, and
    /// finer than the watch can measure.
    private static let voltageDigits = 1000.0
    private static let voltageLimit = 1 << 16

    /// Reads an electrocardiogram as one record, whose value is the average heart rate, as in imports.
    ///
    /// Its payload has `classification`, `averageHeartRate`, `samplingFrequency` and the like as the app sends them,
    /// and the voltages as one column: `{"microvolts": […]}`, to the nanovolt. The measurements' own times aren't kept:
    /// they follow from `samplingFrequency`.
    mutating func readElectrocardiogram() throws {
        let times = try readTimes()
        var row = row(HealthType.electrocardiogramIdentifier, times.start, times.end)
        // The app sends 0 where the watch didn't know.
        if let rate = Self.rate(item.look("averageHeartRate")), rate > 0, rate.isFinite { row.value = rate }
        var voltages: Value = .null
        if let column = try Self.microvolts(item.look("voltageMeasurements")) {
            voltages = .column(.float64(column))
            _ = item.take("voltageMeasurements")
        }
        describe(&row, restLimit: Self.restLimit) { rest in
            voltages.isNull ? rest : rest.merging(["microvolts": voltages]) { known, _ in known }
        }
        try rows.append(row)
    }

    /// Beats per minute, from a number or `{qty}`.
    private static func rate(_ span: JSONSpan?) -> Double? {
        span.flatMap { $0.decimal ?? $0.value["qty"].double }
    }

    /// Nil for anything that isn't an array of voltages or is longer than any recording; the array is then kept
    /// unchanged if there is room.
    private static func microvolts(_ array: JSONSpan?) throws(JSONScanError) -> [Double]? {
        guard let array, array.kind == .array else { return nil }
        let volts = HealthType(identifier: "voltage", kind: .other, unit: "mcV", style: .none)
        var column: [Double] = []
        var unit = "mcV"
        var scale = 1.0
        var item = AutoExportItem()
        var scanner = JSONScanner(array.bytes)
        try scanner.beginArray()
        while try scanner.nextElement() {
            guard try item.read(scanner.value()), let number = item.take("voltage")?.decimal,
                column.count < voltageLimit
            else { return nil }
            if let text = item.take("units", "unit")?.text, text != unit {
                guard let factors = UnitConversion.toCanonical(unit: text, for: volts) else { return nil }
                (unit, scale) = (text, factors.scale)
            }
            column.append((number * scale * voltageDigits).rounded() / voltageDigits)
        }
        return column
    }
}
