/// The nutrients that a food may have, by the record's members.
enum LifeDashboardFood {
    static let nutrients: [String: LifeDashboardNumber] = {
        let main = [
            ("calories", "EnergyConsumed", "kcal"), ("protein_grams", "Protein", "g"),
            ("carbs_grams", "Carbohydrates", "g"), ("fat_grams", "FatTotal", "g"),
        ]
        let others =
            grams.map { ($0, $1, "g") } + milligrams.map { ($0, $1, "mg") } + micrograms.map { ($0, $1, "mcg") }
        return Dictionary(
            uniqueKeysWithValues: (main + others).map { member, name, unit in
                (member, LifeDashboardNumber(member, "Dietary" + name, unit))
            })
    }()

    /// The members whose sample gives a food its id, the first that it has.
    static let leads = ["calories", "protein_grams", "carbs_grams", "fat_grams"]

    private static let grams = [
        ("dietary_fibre_g", "Fiber"), ("sugars_g", "Sugar"), ("saturated_fat_g", "FatSaturated"),
        ("monounsaturated_fat_g", "FatMonounsaturated"), ("polyunsaturated_fat_g", "FatPolyunsaturated"),
    ]
    private static let milligrams = [
        ("cholesterol_mg", "Cholesterol"), ("sodium_mg", "Sodium"), ("potassium_mg", "Potassium"),
        ("calcium_mg", "Calcium"), ("chloride_mg", "Chloride"), ("copper_mg", "Copper"), ("iron_mg", "Iron"),
        ("magnesium_mg", "Magnesium"), ("manganese_mg", "Manganese"), ("phosphorus_mg", "Phosphorus"),
        ("zinc_mg", "Zinc"), ("vitamin_b6_mg", "VitaminB6"), ("vitamin_c_mg", "VitaminC"),
        ("vitamin_e_mg", "VitaminE"), ("thiamin_mg", "Thiamin"), ("riboflavin_mg", "Riboflavin"),
        ("niacin_mg", "Niacin"), ("pantothenic_acid_mg", "PantothenicAcid"), ("caffeine_mg", "Caffeine"),
    ]
    private static let micrograms = [
        ("chromium_mcg", "Chromium"), ("iodine_mcg", "Iodine"), ("molybdenum_mcg", "Molybdenum"),
        ("selenium_mcg", "Selenium"), ("vitamin_a_mcg", "VitaminA"), ("vitamin_b12_mcg", "VitaminB12"),
        ("vitamin_d_mcg", "VitaminD"), ("vitamin_k_mcg", "VitaminK"), ("biotin_mcg", "Biotin"),
        ("folate_mcg", "Folate"),
    ]
}
