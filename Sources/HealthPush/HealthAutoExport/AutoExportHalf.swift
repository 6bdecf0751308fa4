/// Which half of the day a 12-hour clock means, in every language: the words that ICU's locales print for AM and PM
/// (`AutoExportLocaleTests` prints and reads them all), and those that older systems print.
///
/// Words are in small letters, and consist of letters and their marks only: `p. m.` is `pm`.
enum AutoExportHalf {
    /// Whether the word means the half after noon; nil for an unknown word.
    ///
    /// Finnish and Inari Sami give `ip.` opposite meanings. It counts as Finnish, which iPhones can be set to.
    static func isAfternoon(_ word: String) -> Bool? {
        if afternoon.contains(word) { return true }
        return morning.contains(word) ? false : nil
    }

    private static let morning = words(
        """
        am a adduha ag amvormittag an ankstāinan antemidí ap atm banhaet bn braxkndaax comme de delamañana
        delmatin dinda dop dopołdnja dopołedniŏ eparadites fh fm fọmọ́nin gh günortadanöň hengihengi hoseng ib
        ibikɛ̂glà icheheavo idiɓa isuk iđitbeaivet kangama karoon ki kiroko kiɛmɛ́ɛm kíkíríg leebi lumalwak
        lwamilawu m makeo mambia maná matin mbaʼámbaʼ mbaꞌmbaꞌ moies muhi munkyo nd ntufat ntɔ́ngɔ́ nụtụtụ od
        pamilau pg piopensuno priekšp priešpiet prijepodne rn rw rũ sa safiya sokallim sub subaka subbaahi
        sárúwá taparachu tesiran to too uhrvörmiddaachs uluchelo utuko vaasisu vm wd wichishu yb zdatazal zmu
        àárɔ̀ àárọ̀ öö ĩyakwakya ŋdi ǁgoagas ɛnkakɛnyá ʊshilèkʊboɖu πμ ам дп обедтэикеле претпл пријеподне таңкы
        то эи үө ӕмбисбоныразмӕ לפ פֿאַרמיטאָג اےایم بن ص صبحمنجهند غم قبلازظهر چۈشتىنبۇرۇن ܩܛ ߛ एएम तडके पू
        पूर्वाह्न फुं भोर भ्यागा येएम सकाळीं सबेरे सवेर सुबुहजा এএম ଏଏମ ఎఎమ్ පෙව ກ່ອນທ່ຽງ སྔཆ སྔདྲོ နံနက် ማለዶ
        ቀደምሰርምዕል ቅቀ ጥዋት ጽባሕ ፋዱስጃብ ᐁᒼ ᱥᱮᱛᱟᱜ ⵜⵉⴼⴰⵡⵜ 上午 午前 ꎸꄑ ꮜꮎꮄ 오전 𞤢𞤰 ก่อนเที่ยง முற்பகல் ಪೂರ್ವಾಹ್ನ પૂર્વમધ્યાહ્ન
        मपू قظ проб
        """)

    private static let afternoon = words(
        """
        pm ak akasuba aluula amnamittag banringzgvaq baubaukndaax ch chilo cɛɛ́nko delatarde desira dilolo du
        eahketbeaivet eb ebongi ebyámu efiafi eh eigulo em ep epasdites ew f fọívnin gd gm günortadansoň hwaĩinĩ
        ichamthi in ip iɓugajɔp kikiiɗe kingoto kisɛ́ndɛ kooskoliny kugú kyiukonyi lilli lk lumalwap makaaripi
        mchochill mog mpókwa muu nabali ncwònzém ngo ngəgógəle nm nomëttes ntmeddit nyiaghuo odp ot p pamunyi
        papussideinan pashamihe pipinisuno pn pop popiet popodne popołdnju popołedniu posmidí ptg ptm pēcp sanje
        shwane soir teipa thapama tk tŋ uhrnommendaachs ut wb wengi wótpołdnja yamma yh zaarikayb zmw ös ĩyawĩoo
        ŋkambɔ́tnji ũg ǃuias ɔ̀sán ɛndámâ ɣetrɔ ʊshilèkʊsasʊ μμ обедтэмейле пм попл поподне послијеподне пп тк
        түштөнкийинки эк үх ӕмбисбоныфӕстӕ אח נאָכמיטאָג بعدازظهر دن غو م منجهندشام پیایم چۈشتىنكېيىن ܒܛ ߥ अ
        अपराह्न दपेहरासंजा दपैहरबाद पीएम बेलासे शामजा सांजे सांझ सांम পিএম ପିଏମ పిఎమ్ පව ຫຼັງທ່ຽງ ཕྱིཆ ཕྱིདྲོ
        ညနေ ሓቆስርምዕል ምሴት ቃማ ከሰዓት ድቀ ፋዱስደምቢ ᐲᒼ ᱧᱤᱫᱟᱹ ḍeffiraza ọ̀sán ⵜⴰⴷⴳⴳⵯⴰⵜ 下午 午後 ꁯꋒ ꮢꭿᏹꭲꮧꮲ 오후 𞤩𞤰 หลังเที่ยง
        பிற்பகல் ಅಪರಾಹ್ನ ઉત્તરમધ્યાહ્ન मउ بظ слоб
        """)

    private static func words(_ text: String) -> Set<String> {
        Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
    }
}
